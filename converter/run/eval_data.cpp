#include "run/eval_data.h"

#include <algorithm>
#include <charconv>

#include "base/json_file.h"
#include "base/printable.h"
#include "run/status_error.h"
#include "run/text_source.h"

namespace bantam::convert {
namespace {

/// What is wrong with one line; read_dataset adds file and number.
struct BadLine {
  std::string what;
};

std::string string_field(const Json& object, const char* name) {
  const auto it = object.find(name);
  if (it == object.end()) throw BadLine{fmt::format("field \"{}\" is missing", name)};
  if (!it->is_string()) throw BadLine{fmt::format("field \"{}\" is no string", name)};
  return it->get<std::string>();
}

std::vector<std::string> list_field(const Json& object, const char* name) {
  const auto it = object.find(name);
  if (it == object.end()) throw BadLine{fmt::format("field \"{}\" is missing", name)};
  if (!it->is_array()) throw BadLine{fmt::format("field \"{}\" is no list", name)};
  std::vector<std::string> list;
  for (const Json& item : *it) {
    if (!item.is_string()) throw BadLine{fmt::format("field \"{}\" holds something that is no string", name)};
    list.push_back(item.get<std::string>());
  }
  return list;
}

Layout layout_of(const Json& object) {
  const auto has = [&](const char* name) { return object.contains(name); };
  if (has("question") && has("context")) return Layout::kAnswers;
  if (has("choices")) return Layout::kChoices;
  if (has("tokens") && has("tags")) return Layout::kTags;
  if (has("intent")) return Layout::kJoint;
  if (has("score") && has("text_a")) return Layout::kScore;
  if (has("labels") && (has("text") || has("text_a"))) return Layout::kLabels;
  if (has("label") && (has("text") || has("text_a"))) return Layout::kLabel;
  throw BadLine{
      "no known layout; wanted text + label, text + labels, text_a + text_b + score, text + intent [+ tokens + slots], "
      "tokens + tags, "
      "question + context + answers, or text + choices + label"};
}

/// Index of the label with this name; label_count when there is none.
uint32_t find_label(const Model& model, const std::string& name) {
  const uint32_t count = model.label_set_count() == 0 ? 0 : model.label_count(0);
  for (uint32_t i = 0; i < count; ++i) {
    if (to_string(model.label(0, i)) == name) return i;
  }
  return count;
}

bool is_label(const Model& model, const std::string& name) {
  return model.label_set_count() != 0 && find_label(model, name) < model.label_count(0);
}

/// The name of a line's label: its "label_name" or "label" where the model has that name, else the model's name for
/// the number. Unknown names stay as they are.
std::string label_field(const Json& object, const Model& model) {
  const Json& label = object.at("label");
  const auto name = object.find("label_name");
  if (name != object.end() && name->is_string() && is_label(model, name->get<std::string>()))
    return name->get<std::string>();
  if (label.is_string()) return label.get<std::string>();
  if (!label.is_number_integer()) throw BadLine{"field \"label\" is neither a string nor a whole number"};
  const auto number = label.get<int64_t>();
  const bool in_range = number >= 0 && model.label_set_count() != 0 && number < model.label_count(0);
  return in_range ? label_name(model, static_cast<uint32_t>(number)) : label.dump();
}

void put_tokens(const std::vector<std::string>& tokens, std::vector<std::string> tags, const char* tags_name,
                Example* example) {
  if (tokens.size() != tags.size()) {
    throw BadLine{fmt::format("{} tokens but {} {}", tokens.size(), tags.size(), tags_name)};
  }
  set_tokens(tokens, std::move(tags), example);
}

/// SQuAD's {"text": [...]} or a plain list.
std::vector<std::string> answers_field(const Json& object) {
  const auto it = object.find("answers");
  if (it == object.end()) throw BadLine{"field \"answers\" is missing"};
  return it->is_object() ? list_field(*it, "text") : list_field(object, "answers");
}

Input text_field(const Json& object) {
  if (!object.contains("text_a")) return {string_field(object, "text"), std::nullopt};
  return {string_field(object, "text_a"), string_field(object, "text_b")};
}

Example parse(const Json& object, Layout layout, const Model& model) {
  Example example;
  switch (layout) {
    case Layout::kLabel:
      example.input = text_field(object);
      example.label = label_field(object, model);
      break;
    case Layout::kLabels:
      example.input = text_field(object);
      example.labels = list_field(object, "labels");
      break;
    case Layout::kScore:
      example.input = text_field(object);
      if (!object.at("score").is_number()) throw BadLine{"field \"score\" is no number"};
      example.score = object.at("score").get<float>();
      break;
    case Layout::kJoint:
      example.input = text_field(object);
      example.label = string_field(object, "intent");
      if (object.contains("slots"))
        put_tokens(list_field(object, "tokens"), list_field(object, "slots"), "slots", &example);
      break;
    case Layout::kTags:
      put_tokens(list_field(object, "tokens"), list_field(object, "tags"), "tags", &example);
      break;
    case Layout::kAnswers:
      example.input = {string_field(object, "question"), string_field(object, "context")};
      example.answers = answers_field(object);
      break;
    case Layout::kChoices: {
      example.input.first = string_field(object, "text");
      example.choices = list_field(object, "choices");
      if (example.choices.size() < 2) throw BadLine{"field \"choices\" holds fewer than two"};
      const auto label = object.find("label");
      if (label == object.end() || !label->is_number_integer()) throw BadLine{"field \"label\" is no whole number"};
      example.label = label->dump();
      break;
    }
  }
  return example;
}

Json parse_line(const std::string& line) {
  Json object = Json::parse(line, nullptr, false);
  if (object.is_discarded()) throw BadLine{"not JSON"};
  if (!object.is_object()) throw BadLine{"no JSON object"};
  return object;
}

/// Counts the example where the model does not have its label, or one of them.
void note_unknown(const Example& example, const Model& model, Dataset* data) {
  std::vector<std::string> names = example.labels;
  if (data->layout == Layout::kLabel || data->layout == Layout::kJoint) names.push_back(example.label);
  if (model.label_set_count() == 0) return;
  for (const std::string& name : names) {
    if (is_label(model, name)) continue;
    if (data->unknown++ == 0) data->first_unknown = fmt::format("\"{}\" in line {}", printable(name), example.line);
    return;
  }
}

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

}  // namespace

const char* layout_name(Layout layout) {
  switch (layout) {
    case Layout::kLabel:
      return "labels";
    case Layout::kLabels:
      return "lists of labels";
    case Layout::kScore:
      return "scores";
    case Layout::kJoint:
      return "intents and slots";
    case Layout::kTags:
      return "tags";
    case Layout::kAnswers:
      return "answers";
    case Layout::kChoices:
      return "choices";
  }
  return "unknown";
}

bool fits(const TaskTraits& task, Layout layout) {
  const bool labels = (task.parts & kLabelsPart) != 0;
  switch (layout) {
    case Layout::kLabel:
    case Layout::kJoint:
      return gives_one_label(task);
    case Layout::kLabels:
      return labels && task.scores == kSigmoids;
    case Layout::kScore:
      return (task.parts & kVectorPart) != 0 || (labels && task.scores == kUnscored);
    case Layout::kTags:
      return (task.parts & kWordsPart) != 0;
    case Layout::kAnswers:
      return (task.parts & kSpanPart) != 0;
    case Layout::kChoices:
      return (task.parts & kChoicePart) != 0;
  }
  return false;
}

void set_tokens(const std::vector<std::string>& tokens, std::vector<std::string> tags, Example* example) {
  example->input.first.clear();
  example->tokens.clear();
  for (const std::string& token : tokens) {
    if (!example->tokens.empty()) example->input.first += ' ';
    const auto begin = static_cast<uint32_t>(example->input.first.size());
    example->input.first += token;
    example->tokens.push_back({begin, static_cast<uint32_t>(example->input.first.size())});
  }
  example->tags = std::move(tags);
}

Dataset read_dataset(const std::string& path, const Model& model, size_t limit, bool skip_bad) {
  constexpr size_t kMostShown = 10;
  Dataset data;
  data.path = path;
  LineReader reader(path);
  std::vector<std::string> problems;
  size_t bad = 0;
  bool known_layout = false;
  std::string line;
  while ((limit == 0 || data.examples.size() < limit) && reader.next(&line)) {
    if (is_blank(line)) continue;
    try {
      const Json object = parse_line(line);
      if (!known_layout) {
        data.layout = layout_of(object);
        known_layout = true;
      }
      Example example = parse(object, data.layout, model);
      example.line = reader.line_number();
      note_unknown(example, model, &data);
      data.examples.push_back(std::move(example));
    } catch (const BadLine& problem) {
      if (bad++ < kMostShown) problems.push_back(fmt::format("{}:{}: {}", path, reader.line_number(), problem.what));
    } catch (const nlohmann::detail::exception&) {
      if (bad++ < kMostShown)
        problems.push_back(fmt::format("{}:{}: a field is missing or of the wrong type", path, reader.line_number()));
    }
  }
  data.skipped = bad;
  if (bad > 0 && !skip_bad) {
    if (bad > kMostShown) problems.push_back(fmt::format("{}: ... {} bad lines in all", path, bad));
    problems.push_back(fmt::format("{}: correct them, or leave them out with --skip-bad", path));
    throw Error(ExitCode::kInvalid, problems);
  }
  if (data.examples.empty())
    fail(ExitCode::kInvalid, "{}: there is no example in it; pass a JSONL file with labels", path);
  return data;
}

void refuse_unknown(const Dataset& data, const std::string& model) {
  if (data.unknown < data.examples.size()) return;
  fail(ExitCode::kInvalid, "{}: {} knows none of its labels, such as {}; bantam inspect shows the model's", data.path,
       model, data.first_unknown);
}

}  // namespace bantam::convert
