#include "score/eval_json.h"

namespace bantam::convert {
namespace {

OrderedJson rows_json(const std::vector<LabelDetail>& rows) {
  OrderedJson list = OrderedJson::array();
  for (const LabelDetail& row : rows) {
    list.push_back({{"label", row.label},
                    {"precision", row.precision()},
                    {"recall", row.recall()},
                    {"f1", row.f1()},
                    {"support", row.support},
                    {"predicted", row.predicted}});
  }
  return list;
}

/// Writes the data's answers to `gold` and the file's answers to `said`.
void put_answers(const Dataset& data, const Outcome& outcome, size_t i, OrderedJson* gold, OrderedJson* said) {
  const Example& example = data.examples[i];
  if (!outcome.labels.empty()) {
    const char* name = data.layout == Layout::kJoint ? "intent" : "label";
    (*gold)[name] = example.label;
    (*said)[name] = outcome.labels[i];
  }
  if (!outcome.label_lists.empty()) {
    (*gold)["labels"] = example.labels;
    (*said)["labels"] = outcome.label_lists[i];
  }
  if (data.layout == Layout::kScore) {
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

OrderedJson metrics_json(const Metrics& metrics) {
  const auto counts = [](const std::string& name) {
    return name.size() >= 5 && name.compare(name.size() - 5, 5, "flips") == 0;
  };
  OrderedJson object = OrderedJson::object();
  for (const auto& [name, value] : metrics) {
    object[name] = counts(name) ? OrderedJson(static_cast<uint64_t>(value)) : OrderedJson(value);
  }
  return object;
}

void put_details(const EvalDetails& details, OrderedJson* object) {
  if (!details.labels.empty()) (*object)["labels"] = rows_json(details.labels);
  if (!details.confusion.empty()) {
    OrderedJson names = OrderedJson::array();
    for (const LabelDetail& row : details.labels) names.push_back(row.label);
    (*object)["confusion"] = {{"labels", names}, {"counts", details.confusion}};
  }
  if (!details.entities.empty()) (*object)["entities"] = rows_json(details.entities);
}

std::string prediction_lines(const Dataset& data, const Outcome& outcome) {
  std::string lines;
  for (size_t i = 0; i < data.examples.size(); ++i) {
    const Example& example = data.examples[i];
    OrderedJson object = json_object("eval.prediction");
    object["line"] = example.line;
    object["text"] = example.input.first;
    if (example.input.second) object["pair"] = *example.input.second;
    if (!example.choices.empty()) object["choices"] = example.choices;
    OrderedJson gold = OrderedJson::object();
    OrderedJson said = OrderedJson::object();
    put_answers(data, outcome, i, &gold, &said);
    object["gold"] = std::move(gold);
    object["predicted"] = std::move(said);
    lines += one_line(object) + "\n";
  }
  return lines;
}

}  // namespace bantam::convert
