#include "score/eval_sets.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/status_error.h"
#include "score/eval_metrics.h"

namespace bantam::convert {
namespace {

/// Counts for sets in which several labels may hold.
struct SetCounts {
  double correct = 0, found = 0, wanted = 0;
  void add(const SetLabels& gold, const SetLabels& said) {
    found += static_cast<double>(said.labels.size());
    wanted += static_cast<double>(gold.labels.size());
    for (const std::string& label : said.labels) {
      correct += std::binary_search(gold.labels.begin(), gold.labels.end(), label) ? 1 : 0;
    }
  }
  double f1() const { return found + wanted == 0 ? 0 : 2 * correct / (found + wanted); }
};

}  // namespace

std::vector<SetKind> further_sets(const Model& model) {
  std::vector<SetKind> sets;
  if (!has_part(model.task(), kLabelsPart | kWordsPart)) return sets;
  const bool words = !has_part(model.task(), kLabelsPart);
  for (uint32_t set = task_label_sets(model); set < model.label_set_count(); ++set) {
    sets.push_back({set_name(model, set), words, !words && traits(model.task()).scores == kSigmoids});
  }
  return sets;
}

std::vector<SetLabels> gold_of_sets(const Record& record, const Model& model, size_t tokens) {
  std::vector<SetLabels> gold;
  for (const SetKind& set : further_sets(model)) {
    SetLabels& labels = gold.emplace_back();
    if (!record.has(set.name)) continue;
    labels.known = true;
    labels.labels = record.names(set.name, set.words);
    if (set.words && labels.labels.size() != tokens) {
      throw BadRecord{fmt::format("{} tokens but {} of \"{}\"", tokens, labels.labels.size(), set.name)};
    }
    if (!set.words && !set.several && labels.labels.size() != 1) {
      throw BadRecord{fmt::format("field \"{}\" holds {} labels instead of one", set.name, labels.labels.size())};
    }
    if (!set.words) std::sort(labels.labels.begin(), labels.labels.end());
  }
  return gold;
}

std::vector<std::string> token_tags(const Model& model, uint32_t set, const std::vector<Offset>& tokens,
                                    const std::vector<Offset>& words, const std::vector<LabelScore>& labels) {
  std::vector<std::string> tags(tokens.size(), "O");
  size_t word = 0;
  for (size_t token = 0; token < tags.size(); ++token) {
    while (word < words.size() && words[word].begin < tokens[token].begin) ++word;
    if (word == words.size() || words[word].begin >= tokens[token].end) continue;
    tags[token] = to_string(model.label(set, labels[word].label));
  }
  return tags;
}

std::vector<SetLabels> said_of_sets(const Model& model, const std::vector<Offset>& tokens,
                                    const Prediction& prediction) {
  std::vector<SetLabels> said;
  for (const SetAnswer& set : prediction.further) {
    SetLabels& labels = said.emplace_back();
    labels.known = true;
    if (set.labels.empty()) {
      labels.labels = token_tags(model, set.set, tokens, set.words, set.word_labels);
    } else if (traits(model.task()).scores == kSigmoids) {
      for (uint32_t i = 0; i < set.holds; ++i) labels.labels.push_back(label_name(model, set.labels[i].label, set.set));
      std::sort(labels.labels.begin(), labels.labels.end());
    } else {
      labels.labels.push_back(label_name(model, best_label(model, set.set, set.labels, set.holds).label, set.set));
    }
  }
  return said;
}

std::vector<std::pair<std::string, double>> score_sets(const std::vector<SetKind>& sets,
                                                       const std::vector<const std::vector<SetLabels>*>& gold,
                                                       const std::vector<std::vector<SetLabels>>& said) {
  std::vector<std::pair<std::string, double>> metrics;
  for (size_t set = 0; set < sets.size(); ++set) {
    std::vector<std::string> wanted, found;
    SetCounts counts;
    EntityMetrics entities;
    size_t known = 0;
    for (size_t i = 0; i < said.size(); ++i) {
      const SetLabels &right = gold[i]->at(set), &now = said[i].at(set);
      if (!right.known) continue;
      ++known;
      if (sets[set].words) {
        entities.add(right.labels, now.labels);
      } else if (sets[set].several) {
        counts.add(right, now);
      } else {
        wanted.push_back(right.labels.front());
        found.push_back(now.labels.front());
      }
    }
    const std::string& name = sets[set].name;
    if (known == 0) continue;
    if (sets[set].words) {
      metrics.emplace_back(name + "_f1", entities.f1());
    } else if (sets[set].several) {
      metrics.emplace_back(name + "_micro_f1", counts.f1());
    } else {
      const LabelMetrics labels = label_metrics(wanted, found);
      metrics.emplace_back(name + "_accuracy", labels.accuracy);
      metrics.emplace_back(name + "_macro_f1", labels.macro_f1);
    }
  }
  return metrics;
}

}  // namespace bantam::convert
