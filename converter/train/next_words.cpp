#include "train/next_words.h"

#include <algorithm>
#include <cmath>

#include "train/batches.h"

namespace bantam::train {

NextWords next_words(const std::vector<const Example*>& members) {
  size_t longest = 1;
  for (const Example* member : members) longest = std::max(longest, member->student.ids.size());
  std::vector<int64_t> rows, wanted;
  for (size_t i = 0; i < members.size(); ++i) {
    for (size_t t = 0; t < members[i]->next.size(); ++t) {
      if (members[i]->next[t] < 0) continue;
      rows.push_back(static_cast<int64_t>(i * longest + t));
      wanted.push_back(members[i]->next[t]);
    }
  }
  return {torch::tensor(rows, torch::kInt64), torch::tensor(wanted, torch::kInt64)};
}

at::Tensor logits_at(const at::Tensor& output, const NextWords& words) {
  return output.reshape({-1, output.size(2)}).index_select(0, words.rows);
}

at::Tensor next_word_loss(const at::Tensor& logits, const NextWords& words, double smoothing) {
  if (words.wanted.numel() == 0) return logits.sum() * 0;
  constexpr int64_t kIgnored = -1;
  return at::cross_entropy_loss(logits, words.wanted, {}, at::Reduction::Mean, kIgnored, smoothing);
}

Scores foretold(const Network& network, const std::vector<Example>& examples, const Heads& heads,
                const ForwardOptions& options, uint32_t batch) {
  const at::NoGradGuard guard;
  std::vector<uint32_t> lengths;
  lengths.reserve(examples.size());
  for (const Example& example : examples) lengths.push_back(example.student.length());
  double sum = 0, right = 0, count = 0;
  for (const std::vector<uint32_t>& members : sorted_batches(lengths, batch)) {
    std::vector<const Encoded*> sides;
    std::vector<const Example*> batched;
    for (const uint32_t member : members) {
      sides.push_back(&examples[member].student);
      batched.push_back(&examples[member]);
    }
    const NextWords words = next_words(batched);
    if (words.wanted.numel() == 0) continue;
    const Forward forward = network.run(pad(sides), options);
    const at::Tensor logits = logits_at(forward.outputs[static_cast<size_t>(heads.next_output)], words);
    const auto tokens = static_cast<double>(words.wanted.numel());
    sum += tokens * next_word_loss(logits, words, 0).item<double>();
    right += logits.argmax(-1).eq(words.wanted).sum().item<double>();
    count += tokens;
  }
  count = std::max(1.0, count);
  Scores scores;
  scores.primary = -sum / count;
  scores.all = {{"token_loss", sum / count}, {"perplexity", std::exp(sum / count)}, {"token_accuracy", right / count}};
  return scores;
}

}  // namespace bantam::train
