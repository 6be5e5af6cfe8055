#include "score/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/task_traits.h"

namespace bantam::convert {
namespace {

/// cos = ab / sqrt(aa * bb); two zero vectors count as equal.
double cosine_of(double ab, double aa, double bb) {
  if (aa == 0 || bb == 0) return aa == bb ? 1 : 0;
  return ab / std::sqrt(aa * bb);
}

/// The index of the largest value (the first among equals) and its margin over the next.
struct Best {
  uint32_t index = 0;
  float margin = 0;
};

Best best_of(const float* values, uint32_t count) {
  Best best;
  for (uint32_t i = 1; i < count; ++i) {
    if (values[i] > values[best.index]) best.index = i;
  }
  best.margin = INFINITY;
  for (uint32_t i = 0; i < count; ++i) {
    if (i != best.index) best.margin = std::min(best.margin, values[best.index] - values[i]);
  }
  return best;
}

std::string shorten(const std::string& text) {
  constexpr size_t kMost = 60;
  if (text.size() <= kMost) return text;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

/// Returns the Kullback-Leibler divergence sum p ln(p / q) of p = softmax(reference) and q = softmax(got). O(count).
double softmax_divergence(const float* reference, const float* got, uint32_t count) {
  const double top_p = *std::max_element(reference, reference + count), top_q = *std::max_element(got, got + count);
  double sum_p = 0, sum_q = 0, weighted = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const double p = double{reference[i]} - top_p, q = double{got[i]} - top_q;
    sum_p += std::exp(p);
    sum_q += std::exp(q);
    weighted += std::exp(p) * (p - q);
  }
  return std::max(0.0, weighted / sum_p - std::log(sum_p) + std::log(sum_q));
}

/// Returns the divergence between sigmoid(reference) and sigmoid(got), as probabilities that a label holds.
double sigmoid_divergence(float reference, float got) {
  const float p[2] = {reference, 0}, q[2] = {got, 0};
  return softmax_divergence(p, q, 2);
}

/// Returns true for outputs of task heads, which are named "logits", "start_logits", "intent_logits", ...
bool is_logits(const std::string& name) { return name.find("logits") != std::string::npos; }

}  // namespace

Comparer::Comparer(const fb::ModelT& model, std::string against) : model_(model) {
  comparison_.against = std::move(against);
}

size_t Comparer::entry(const std::string& name) {
  for (size_t i = 0; i < comparison_.outputs.size(); ++i) {
    if (comparison_.outputs[i].name == name) return i;
  }
  counts_.emplace_back();
  comparison_.outputs.emplace_back();
  comparison_.outputs.back().name = name;
  const bool scored = !model_.task || traits(model_.task->kind).scores != kUnscored;
  comparison_.outputs.back().decides = is_logits(name) && scored;
  comparison_.outputs.back().continues = std::any_of(
      model_.outputs.begin(), model_.outputs.end(),
      [&](const auto& output) { return output->name == name && output->role == fb::OutputRole::next_words; });
  return comparison_.outputs.size() - 1;
}

std::string Comparer::label(const std::string& output, uint32_t index) const {
  if (model_.task) {
    for (const auto& set : model_.task->label_sets) {
      const bool same = set->output < model_.outputs.size() && model_.outputs[set->output]->name == output;
      if (same && index < set->labels.size()) return set->labels[index];
    }
  }
  return std::to_string(index);
}

const std::vector<int32_t>* Comparer::parents_of(const std::string& output) const {
  if (!model_.task) return nullptr;
  for (const auto& set : model_.task->label_sets) {
    const bool same = set->output < model_.outputs.size() && model_.outputs[set->output]->name == output;
    if (same && !set->parents.empty()) return &set->parents;
  }
  return nullptr;
}

void Comparer::diverge(size_t output, double divergence) {
  comparison_.outputs[output].divergence_sum += divergence;
  counts_[output].divergence += divergence;
}

void Comparer::decide(size_t output, const Sample& sample, uint32_t row, const float* reference, const float* got,
                      uint32_t count) {
  OutputComparison& entry = comparison_.outputs[output];
  const auto note = [&](float margin, const std::string& expected, const std::string& now) {
    ++entry.differing;
    if (!(margin > kFlipMargin)) return;
    ++entry.flips;
    ++counts_[output].flips;
    if (margin > entry.worst_flip.amount) entry.worst_flip = {shorten(sample.text), row, expected, now, margin};
  };
  if (model_.task && (traits(model_.task->kind).parts & kFoundPart) != 0) {
    // The decision for a word is the best span that begins with it, and its label, or none if all scores are below 0.
    std::vector<float> expected = {0}, now = {0};
    std::vector<std::string> names = {"none"};
    for (uint32_t i = 0; i < count; ++i) {
      if (reference[i] == 0) continue;  // a span or label that the text does not have
      expected.push_back(reference[i]);
      now.push_back(got[i]);
      names.push_back("span " + std::to_string(i));
    }
    if (expected.size() < 2) return;
    ++entry.decisions;
    ++counts_[output].decisions;
    const auto columns = static_cast<uint32_t>(expected.size());
    const Best best = best_of(expected.data(), columns), found = best_of(now.data(), columns);
    diverge(output, softmax_divergence(expected.data(), now.data(), columns));
    if (best.index != found.index) note(best.margin, names[best.index], names[found.index]);
    return;
  }
  if (model_.task && traits(model_.task->kind).scores == kSigmoids) {
    for (uint32_t i = 0; i < count; ++i) {
      ++entry.decisions;
      ++counts_[output].decisions;
      diverge(output, sigmoid_divergence(reference[i], got[i]));
      if ((reference[i] > 0) == (got[i] > 0)) continue;
      const std::string name = label(entry.name, i);
      note(std::fabs(reference[i]), (reference[i] > 0 ? "" : "not ") + name, (got[i] > 0 ? "" : "not ") + name);
    }
    return;
  }
  if (count < 2) return;
  ++entry.decisions;
  ++counts_[output].decisions;
  if (const std::vector<int32_t>* parents = parents_of(entry.name)) {
    // Compares the choices from the top level down, as long as both are the same.
    for (int32_t under = -1;;) {
      std::vector<uint32_t> labels;
      std::vector<float> expected, now;
      for (uint32_t i = 0; i < std::min<size_t>(count, parents->size()); ++i) {
        if ((*parents)[i] != under) continue;
        labels.push_back(i);
        expected.push_back(reference[i]);
        now.push_back(got[i]);
      }
      if (labels.empty()) return;
      const auto siblings = static_cast<uint32_t>(labels.size());
      diverge(output, softmax_divergence(expected.data(), now.data(), siblings));
      const Best best = best_of(expected.data(), siblings), found = best_of(now.data(), siblings);
      if (best.index != found.index) {
        return note(best.margin, label(entry.name, labels[best.index]), label(entry.name, labels[found.index]));
      }
      under = static_cast<int32_t>(labels[best.index]);
    }
  }
  diverge(output, softmax_divergence(reference, got, count));
  const Best expected = best_of(reference, count);
  const Best now = best_of(got, count);
  if (expected.index == now.index) return;
  note(expected.margin, label(entry.name, expected.index), label(entry.name, now.index));
}

void Comparer::compare(size_t output, const Sample& sample, uint32_t row, const float* reference, const float* got,
                       uint32_t count) {
  OutputComparison& entry = comparison_.outputs[output];
  for (uint32_t i = 0; i < count; ++i) {
    const float difference = std::fabs(reference[i] - got[i]);
    // "not <=", so that a NaN counts as the worst difference.
    if (!(difference <= entry.largest_difference)) {
      entry.largest_difference = std::isnan(difference) ? INFINITY : difference;
      entry.worst_difference = {shorten(sample.text), row, "", "", entry.largest_difference};
    }
  }
  if (sample.odd) return;
  ++entry.vectors;
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (uint32_t i = 0; i < count; ++i) {
    ab += double{reference[i]} * got[i];
    aa += double{reference[i]} * reference[i];
    bb += double{got[i]} * got[i];
  }
  entry.product += ab;
  entry.square += aa;
  entry.other += bb;
  const double similarity = cosine_of(ab, aa, bb);
  entry.cosine_sum += similarity;
  ++counts_[output].vectors;
  counts_[output].distance += 1 - similarity;
  entry.least_cosine = std::min(entry.least_cosine, similarity);
  entry.cosine = entry.decides ? cosine_of(entry.product, entry.square, entry.other)
                               : entry.cosine_sum / static_cast<double>(entry.vectors);
  if (entry.decides) decide(output, sample, row, reference, got, count);
}

void Comparer::add_rows(const Sample& sample, const OutputRows& reference, const OutputRows& got,
                        const std::vector<uint32_t>& rows) {
  if (reference.width != got.width || reference.rows != rows.size()) {
    throw Error(ExitCode::kInvalid,
                fmt::format("{} of \"{}\": expected {} x {} values, the model gives {} x {}", got.name,
                            shorten(sample.text), reference.rows, reference.width, got.rows, got.width));
  }
  const size_t to = entry(got.name);
  if (got.per_token && got.width == 1) {
    // Start and end positions: the decision is the choice of a token.
    std::vector<float> column;
    column.reserve(rows.size());
    for (const uint32_t row : rows) column.push_back(got.row(row)[0]);
    compare(to, sample, 0, reference.values.data(), column.data(), reference.rows);
    return;
  }
  for (uint32_t i = 0; i < reference.rows; ++i)
    compare(to, sample, rows[i], reference.row(i), got.row(rows[i]), got.width);
}

void Comparer::add(const Sample& sample, const std::vector<OutputRows>& reference, const std::vector<OutputRows>& got) {
  for (size_t i = 0; i < got.size(); ++i) {
    std::vector<uint32_t> rows;
    OutputRows part = reference[i];
    part.values.clear();
    for (uint32_t row = 0; row < reference[i].rows; ++row) {
      // A decoder's rows are not tokens of the text.
      const bool of_text = sample.decoder_ids.empty() && !sample.content.empty();
      const bool skip = got[i].per_token && got[i].width > 1 && of_text && !sample.content[row];
      if (skip) continue;
      rows.push_back(row);
      part.values.insert(part.values.end(), reference[i].row(row), reference[i].row(row) + part.width);
    }
    part.rows = static_cast<uint32_t>(rows.size());
    if (part.rows > 0) add_rows(sample, part, got[i], rows);
  }
  next_text(sample.odd);
}

void Comparer::next_text(bool odd) {
  ++(odd ? comparison_.odd_texts : comparison_.texts);
  for (size_t i = 0; i < counts_.size(); ++i) {
    comparison_.outputs[i].flipped.add(counts_[i].flips, counts_[i].decisions);
    comparison_.outputs[i].distance.add(counts_[i].distance, counts_[i].vectors);
    comparison_.outputs[i].diverged.add(counts_[i].divergence, counts_[i].decisions);
    counts_[i] = {};
  }
}

void Comparer::add_label(int64_t label, const OutputRows& reference, const OutputRows& got) {
  if (label < 0) return;
  if (!comparison_.score) comparison_.score = ScoreComparison{got.name, 0, 0, {}};
  ScoreComparison& score = *comparison_.score;
  const auto right = [label](const OutputRows& rows) { return best_of(rows.row(0), rows.width).index == label; };
  const bool before = right(reference), after = right(got);
  score.before += before ? 1 : 0;
  score.after += after ? 1 : 0;
  score.lost.add((before ? 1.0 : 0.0) - (after ? 1.0 : 0.0), 1);
}

double Comparison::divergence() const {
  double sum = 0;
  for (const OutputComparison& output : outputs) sum += output.divergence();
  return sum;
}

}  // namespace bantam::convert
