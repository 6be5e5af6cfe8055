#include "cli/eval_details.h"

#include <algorithm>
#include <array>

namespace bantam::cli {

using convert::Dataset;
using convert::EvalDetails;
using convert::Example;
using convert::LabelDetail;

namespace {

Json rows_json(const std::vector<LabelDetail>& rows) {
  Json list = Json::array();
  for (const LabelDetail& row : rows) {
    list.push_back({{"label", row.label},
                    {"precision", static_cast<float>(row.precision())},
                    {"recall", static_cast<float>(row.recall())},
                    {"f1", static_cast<float>(row.f1())},
                    {"support", row.support},
                    {"predicted", row.predicted}});
  }
  return list;
}

void print_rows(const char* what, const std::vector<LabelDetail>& details) {
  if (details.empty()) return;
  std::vector<std::vector<std::string>> rows = {{what, "precision", "recall", "F1", "in the data", "predicted"}};
  for (const LabelDetail& row : details) {
    rows.push_back({printable(row.label), fmt::format("{:.2f}", 100 * row.precision()),
                    fmt::format("{:.2f}", 100 * row.recall()), fmt::format("{:.2f}", 100 * row.f1()),
                    fmt::format("{}", row.support), fmt::format("{}", row.predicted)});
  }
  out().print("\n");
  print_table(rows);
}

/// A matrix, where it fits a terminal.
void print_confusion(const EvalDetails& details) {
  const size_t n = details.labels.size();
  out().print("\n");
  std::vector<std::vector<std::string>> rows = {{"label of the data \\ predicted"}};
  for (size_t i = 0; i < n; ++i) rows[0].push_back(printable(details.labels[i].label));
  for (size_t i = 0; i < n; ++i) {
    rows.push_back({printable(details.labels[i].label)});
    for (const uint64_t count : details.confusion[i]) rows.back().push_back(fmt::format("{}", count));
  }
  print_table(rows);
}

/// The commonest mistakes.
void print_mistakes(const EvalDetails& details) {
  constexpr size_t kMost = 20;
  std::vector<std::array<uint64_t, 3>> mistakes;
  for (size_t i = 0; i < details.confusion.size(); ++i) {
    for (size_t j = 0; j < details.confusion[i].size(); ++j) {
      if (i != j && details.confusion[i][j] > 0) mistakes.push_back({details.confusion[i][j], i, j});
    }
  }
  std::stable_sort(mistakes.begin(), mistakes.end(), [](const auto& a, const auto& b) { return a[0] > b[0]; });
  if (mistakes.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"times", "label of the data", "predicted"}};
  for (size_t i = 0; i < std::min(kMost, mistakes.size()); ++i) {
    const auto label = [&](size_t at) { return printable(details.labels[static_cast<size_t>(mistakes[i][at])].label); };
    rows.push_back({fmt::format("{}", mistakes[i][0]), label(1), label(2)});
  }
  out().print("\n");
  print_table(rows);
  if (mistakes.size() > kMost) out().print("({} more: --json has all)\n", mistakes.size() - kMost);
}

/// Puts the data's answers into `gold` and the file's answers into `said`.
void put_answers(const Dataset& data, const convert::Outcome& outcome, size_t i, Json* gold, Json* said) {
  const Example& example = data.examples[i];
  if (!outcome.labels.empty()) {
    const char* name = data.layout == convert::Layout::kJoint ? "intent" : "label";
    (*gold)[name] = example.label;
    (*said)[name] = outcome.labels[i];
  }
  if (!outcome.label_lists.empty()) {
    (*gold)["labels"] = example.labels;
    (*said)["labels"] = outcome.label_lists[i];
  }
  if (data.layout == convert::Layout::kScore) {
    (*gold)["score"] = example.score;
    (*said)["score"] = outcome.scores[i];
  }
  if (!example.tags.empty() && outcome.tags.size() == data.examples.size()) {
    (*gold)["tags"] = example.tags;
    (*said)["tags"] = outcome.tags[i];
  }
  if (!outcome.answers.empty()) {
    (*gold)["answers"] = example.answers;
    (*said)["answer"] = outcome.answers[i];
  }
  if (!outcome.texts.empty()) {
    (*gold)["texts"] = example.answers;
    (*said)["text"] = outcome.texts[i];
  }
  for (size_t set = 0; set < data.sets.size() && i < outcome.sets.size(); ++set) {
    const std::string& name = data.sets[set].name;
    if (example.sets[set].known) (*gold)["sets"][name] = example.sets[set].labels;
    (*said)["sets"][name] = outcome.sets[i][set].labels;
  }
}

}  // namespace

void put_details(const EvalDetails& details, Json* object) {
  if (!details.labels.empty()) (*object)["labels"] = rows_json(details.labels);
  if (!details.confusion.empty()) {
    Json names = Json::array();
    for (const LabelDetail& row : details.labels) names.push_back(row.label);
    (*object)["confusion"] = {{"labels", names}, {"counts", details.confusion}};
  }
  if (!details.entities.empty()) (*object)["entities"] = rows_json(details.entities);
}

void print_details(const EvalDetails& details) {
  constexpr size_t kMostColumns = 8;
  print_rows("label", details.labels);
  if (!details.confusion.empty()) {
    details.labels.size() <= kMostColumns ? print_confusion(details) : print_mistakes(details);
  }
  print_rows("entity", details.entities);
}

std::string prediction_lines(const Dataset& data, const convert::Outcome& outcome) {
  std::string lines;
  for (size_t i = 0; i < data.examples.size(); ++i) {
    const Example& example = data.examples[i];
    Json object = json_object("eval.prediction");
    object["line"] = example.line;
    object["text"] = example.input.first;
    if (example.input.second) object["pair"] = *example.input.second;
    if (!example.choices.empty()) object["choices"] = example.choices;
    Json gold = Json::object();
    Json said = Json::object();
    put_answers(data, outcome, i, &gold, &said);
    object["gold"] = std::move(gold);
    object["predicted"] = std::move(said);
    lines += object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return lines;
}

}  // namespace bantam::cli
