#include "train/teacher.h"

#include "train/batches.h"

namespace bantam::train {
namespace {

std::vector<float> permuted(const std::vector<float>& rows, const std::vector<uint32_t>& order) {
  std::vector<float> out(rows.size());
  const size_t width = order.size();
  for (size_t begin = 0; begin + width <= rows.size(); begin += width) {
    for (size_t i = 0; i < width; ++i) out[begin + i] = rows[begin + order[i]];
  }
  return out;
}

}  // namespace

std::vector<Logits> answers(const Network& network, const std::vector<Example>& examples, bool teacher,
                            const Heads& heads, const ForwardOptions& options, uint32_t batch,
                            const std::function<void(uint64_t, uint64_t)>& progress) {
  const at::NoGradGuard guard;
  std::vector<Logits> out(examples.size());
  std::vector<uint32_t> lengths;
  const auto side = [&](size_t i) -> const Encoded& { return teacher ? examples[i].teacher : examples[i].student; };
  for (size_t i = 0; i < examples.size(); ++i) lengths.push_back(static_cast<uint32_t>(side(i).ids.size()));
  uint64_t done = 0;
  for (const std::vector<uint32_t>& members : sorted_batches(lengths, batch)) {
    std::vector<const Encoded*> encoded;
    for (const uint32_t member : members) encoded.push_back(&side(member));
    const Forward forward = network.run(pad(encoded), options);
    for (size_t i = 0; i < members.size(); ++i) {
      Logits& logits = out[members[i]];
      const auto row = static_cast<int64_t>(i);
      if (heads.class_output >= 0) {
        const at::Tensor label = forward.outputs[static_cast<size_t>(heads.class_output)][row].contiguous();
        logits.label.assign(label.data_ptr<float>(), label.data_ptr<float>() + label.numel());
      }
      if (heads.tag_output < 0) continue;
      const at::Tensor tags = forward.outputs[static_cast<size_t>(heads.tag_output)][row].contiguous();
      const float* values = tags.data_ptr<float>();
      for (const uint32_t word : encoded[i]->words) {
        if (word == kNoRow) continue;
        logits.words.insert(logits.words.end(), values + size_t{word} * heads.tags,
                            values + size_t{word + 1} * heads.tags);
      }
    }
    done += members.size();
    if (progress) progress(done, examples.size());
  }
  return out;
}

void reorder(const std::vector<uint32_t>& labels, const std::vector<uint32_t>& tags, std::vector<Logits>* all) {
  for (Logits& logits : *all) {
    if (!labels.empty()) logits.label = permuted(logits.label, labels);
    if (!tags.empty()) logits.words = permuted(logits.words, tags);
  }
}

}  // namespace bantam::train
