#include "score/eval_details.h"

#include <algorithm>
#include <map>

#include "score/eval_metrics.h"

namespace bantam::convert {
namespace {

using LabelTable = std::map<std::string, LabelDetail>;

double quotient(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void count_names(const std::vector<std::string>& gold, const std::vector<std::string>& said, LabelTable* table) {
  for (const std::string& name : gold) ++(*table)[name].support;
  for (const std::string& name : said) {
    LabelDetail& detail = (*table)[name];
    ++detail.predicted;
    detail.correct += std::find(gold.begin(), gold.end(), name) != gold.end() ? 1u : 0u;
  }
}

void count_entities(const std::vector<std::string>& gold_tags, const std::vector<std::string>& said_tags,
                    LabelTable* table) {
  const std::vector<TagSpan> gold = tag_spans(gold_tags), said = tag_spans(said_tags);
  for (const TagSpan& span : gold) ++(*table)[span.name].support;
  for (const TagSpan& span : said) {
    LabelDetail& detail = (*table)[span.name];
    ++detail.predicted;
    detail.correct += std::find(gold.begin(), gold.end(), span) != gold.end() ? 1u : 0u;
  }
}

std::vector<LabelDetail> rows_of(const LabelTable& table) {
  std::vector<LabelDetail> rows;
  rows.reserve(table.size());
  for (const auto& [name, detail] : table) {
    rows.push_back(detail);
    rows.back().label = name;
  }
  return rows;
}

}  // namespace

double LabelDetail::precision() const { return quotient(correct, predicted); }
double LabelDetail::recall() const { return quotient(correct, support); }
double LabelDetail::f1() const { return quotient(2 * correct, predicted + support); }

EvalDetails details(const Dataset& data, const Outcome& outcome) {
  EvalDetails out;
  LabelTable labels;
  LabelTable entities;
  const bool tagged = outcome.tags.size() == data.examples.size();
  const bool one = !outcome.labels.empty() && data.layout != Layout::kChoices;
  for (size_t i = 0; i < data.examples.size(); ++i) {
    const Example& example = data.examples[i];
    if (one) count_names({example.label}, {outcome.labels[i]}, &labels);
    if (!outcome.label_lists.empty()) count_names(example.labels, outcome.label_lists[i], &labels);
    if (tagged && !example.tags.empty()) count_entities(example.tags, outcome.tags[i], &entities);
  }
  out.labels = rows_of(labels);
  out.entities = rows_of(entities);
  if (!one) return out;
  std::map<std::string, size_t> places;
  for (const LabelDetail& row : out.labels) places.emplace(row.label, places.size());
  out.confusion.assign(places.size(), std::vector<uint64_t>(places.size()));
  for (size_t i = 0; i < data.examples.size(); ++i) {
    ++out.confusion[places.at(data.examples[i].label)][places.at(outcome.labels[i])];
  }
  return out;
}

}  // namespace bantam::convert
