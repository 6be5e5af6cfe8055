#include "score/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "graph/task_parts.h"

namespace bantam::convert {
namespace {

constexpr size_t kShown = 5;

bool labels_texts(const fb::ModelT& model) {
  if (!model.task || model.task->label_sets.empty()) return false;
  // With hierarchical labels, the best of all labels is not the answer.
  return gives_one_label(traits(model.task->kind)) && model.task->label_sets.front()->parents.empty();
}

/// Returns the index of the name; otherwise the index that it spells; otherwise -1.
int64_t find_label(const std::vector<std::string>& labels, const std::string& name) {
  const auto found = std::find(labels.begin(), labels.end(), name);
  if (found != labels.end()) return found - labels.begin();
  const bool number = !name.empty() && name.size() < 9 &&
                      std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number && std::stoul(name) < labels.size() ? static_cast<int64_t>(std::stoul(name)) : -1;
}

}  // namespace

std::vector<int64_t> label_numbers(const fb::ModelT& model, const std::vector<LabelledText>& texts) {
  std::vector<int64_t> numbers(texts.size(), -1);
  if (!labels_texts(model)) return numbers;
  const std::vector<std::string>& labels = model.task->label_sets.front()->labels;
  Problems problems;
  std::set<std::string> unknown;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].label.empty()) continue;
    numbers[i] = find_label(labels, texts[i].label);
    if (numbers[i] < 0) numbers[i] = find_label(labels, texts[i].number);
    if (numbers[i] >= 0 || !unknown.insert(texts[i].label).second || unknown.size() > kShown) continue;
    problems.add(ExitCode::kInvalid,
                 fmt::format("label \"{}\" is not one of the model's {}", texts[i].label, labels.size()));
  }
  problems.raise();
  return numbers;
}

Decision decide(const float* logits, size_t width, int64_t label, double temperature) {
  const float* const top = std::max_element(logits, logits + width);
  double sum = 0;
  for (size_t i = 0; i < width; ++i) sum += std::exp((double{logits[i]} - double{*top}) / temperature);
  Decision out;
  out.score = 1 / sum;
  out.right = top - logits == label;
  if (label >= 0) out.loss = std::log(sum) + (double{*top} - double{logits[label]}) / temperature;
  return out;
}

LabelScores score_labels(const fb::ModelT& model, const std::vector<std::vector<OutputRows>>& outputs,
                         const std::vector<int64_t>& labels) {
  LabelScores scores;
  if (!labels_texts(model)) return scores;
  const size_t output = model.task->label_sets.front()->output;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (labels[i] < 0) continue;
    const OutputRows& row = outputs[i][output];
    const Decision decision = decide(row.row(0), row.width, labels[i]);
    scores.loss += decision.loss;
    scores.accuracy += decision.right ? 1 : 0;
    ++scores.count;
  }
  if (scores.count > 0) {
    scores.loss /= static_cast<double>(scores.count);
    scores.accuracy /= static_cast<double>(scores.count);
  }
  return scores;
}

}  // namespace bantam::convert
