#include "score/eval_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "base/printable.h"
#include "base/status_error.h"
#include "data/records.h"

namespace bantam::convert {
namespace {

/// Returns the index of the label with this name in label set `set`; nothing if there is none.
std::optional<uint32_t> find_label(const Model& model, uint32_t set, const std::string& name) {
  const uint32_t count = set < model.label_set_count() ? model.label_count(set) : 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (to_string(model.label(set, i)) == name) return i;
  }
  return std::nullopt;
}

/// Returns the model's name for the label number `digits`, or `digits` itself if it is not the number of a label.
std::string name_of_number(const Model& model, uint32_t set, const std::string& digits) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  const uint32_t count = set < model.label_set_count() ? model.label_count(set) : 0;
  return whole && number < count ? to_string(model.label(set, number)) : digits;
}

/// Returns true for uninformative names such as "LABEL_0".
bool is_numbered(const std::string& name) { return name.compare(0, 6, "LABEL_") == 0; }

/// Returns the name of the first label set of a file with several sets. Data may use this name instead of "label" and
/// "tags".
std::string first_set(const Model& model) {
  return model.label_set_count() > 0 ? to_string(model.label_set_name(0)) : "";
}

/// Returns the name of an example's label: "label_name" or "label" if the model has that name, otherwise the model's
/// name for the number. Unknown names stay unchanged, including a number to which the data give a different name than
/// the model.
std::string label_of(const Record& record, const Model& model) {
  const std::string set = first_set(model);
  if (!set.empty() && record.has(set)) {
    const std::vector<std::string> names = record.names(set, false);
    if (names.size() != 1) throw BadRecord{fmt::format("field \"{}\" holds {} labels", set, names.size())};
    return find_label(model, 0, names.front()) ? names.front() : name_of_number(model, 0, names.front());
  }
  const std::string label = record.label(record.has(Field::kLabel) ? Field::kLabel : Field::kLabels);
  if (record.has(Field::kLabelName)) {
    std::string name = record.string(Field::kLabelName);
    const std::string own = name_of_number(model, 0, label);
    if (find_label(model, 0, name) || (own != label && !is_numbered(own))) return name;
  }
  return find_label(model, 0, label) ? label : name_of_number(model, 0, label);
}

void put_tokens(const Record& record, Field field, const char* what, const Model& model, Example* example) {
  const std::vector<std::string> tokens = record.list(Field::kTokens);
  const std::string own = first_set(model);
  std::vector<std::string> tags = !own.empty() && record.has(own) ? record.names(own, true) : record.list(field);
  if (tokens.size() != tags.size())
    throw BadRecord{fmt::format("{} tokens but {} {}", tokens.size(), tags.size(), what)};
  const uint32_t set = word_label_set(model);
  for (std::string& tag : tags) {
    if (!find_label(model, set, tag)) tag = name_of_number(model, set, tag);
  }
  set_tokens(tokens, std::move(tags), example);
}

Layout layout_of(const Record& record, const Model& model) {
  const auto has = [&](Field field) { return record.has(field); };
  const bool text = has(Field::kText) || has(Field::kFirst);
  const bool named = !first_set(model).empty() && record.has(first_set(model));
  if (named && has(Field::kTokens)) return Layout::kTags;
  if (named && text) return traits(model.task()).scores == kSigmoids ? Layout::kLabels : Layout::kLabel;
  const bool one = has(Field::kLabel) || (has(Field::kLabels) && !record.is_list(Field::kLabels));
  if (has(Field::kQuestion) && has(Field::kContext)) return Layout::kAnswers;
  if (has(Field::kChoices)) return Layout::kChoices;
  if (has(Field::kTokens) && (has(Field::kTags) || (has(Field::kLabels) && !text))) return Layout::kTags;
  if (has(Field::kTarget) && (text || has(Field::kSource))) return Layout::kTexts;
  if (has(Field::kIntent)) return Layout::kJoint;
  if (has(Field::kScore) && text) return Layout::kScore;
  if (one && text) return Layout::kLabel;
  if (has(Field::kLabels) && text) return Layout::kLabels;
  std::string wanted;
  for (const LayoutText& layout : layouts()) wanted += fmt::format("{}{}", wanted.empty() ? "" : "; ", layout.fields);
  throw BadRecord{fmt::format("no known layout; wanted {}", wanted)};
}

/// Returns the text, or both texts of a pair.
Input texts_of(const Record& record) { return {record.first(), record.second()}; }

/// Reads the mentions of the texts for models that use them. In question records they refer to the contexts.
void put_mentions(const Record& record, Layout layout, const Model& model, Input* input) {
  if (!takes_entities(model)) return;
  const TextSizes sizes = {input->first.size(), input->second.value_or("").size()};
  input->mentions = read_mentions(record.raw("entities"), sizes, layout == Layout::kAnswers);
}

Example example_of(const Record& record, Layout layout, const Model& model) {
  Example example;
  switch (layout) {
    case Layout::kLabel:
      example.input = texts_of(record);
      example.label = label_of(record, model);
      break;
    case Layout::kLabels:
      example.input = texts_of(record);
      for (const std::string& label :
           record.has(first_set(model)) ? record.names(first_set(model), false) : record.list(Field::kLabels)) {
        example.labels.push_back(find_label(model, 0, label) ? label : name_of_number(model, 0, label));
      }
      break;
    case Layout::kScore:
      example.input = texts_of(record);
      if (!example.input.second && has_part(model.task(), kVectorPart)) {
        throw BadRecord{"scores of embeddings are of two texts: field \"text_b\" is missing"};
      }
      example.score = static_cast<float>(record.number(Field::kScore));
      break;
    case Layout::kJoint:
      example.input = texts_of(record);
      example.label = record.label(Field::kIntent);
      if (!find_label(model, 0, example.label)) example.label = name_of_number(model, 0, example.label);
      if (record.has(Field::kSlots)) put_tokens(record, Field::kSlots, "slots", model, &example);
      break;
    case Layout::kTags:
      put_tokens(record, record.has(Field::kTags) ? Field::kTags : Field::kLabels, "tags", model, &example);
      break;
    case Layout::kAnswers:
      example.input = {record.string(Field::kQuestion), record.string(Field::kContext)};
      // An empty cell of a table means that there is no answer.
      if (record.has(Field::kAnswers) || !record.has_column(Field::kAnswers)) {
        example.answers = record.list(Field::kAnswers);
      }
      break;
    case Layout::kTexts:
      example.input.first = record.has(Field::kSource) ? record.string(Field::kSource) : record.first();
      example.answers = record.list(Field::kTarget);
      if (example.answers.empty()) throw BadRecord{"field \"target\" holds no text"};
      break;
    case Layout::kChoices: {
      example.input.first = record.first();
      example.choices = record.list(Field::kChoices);
      if (example.choices.size() < 2) throw BadRecord{"field \"choices\" holds fewer than two"};
      const double label = record.number(Field::kLabel);
      if (label < 0 || label != std::floor(label)) throw BadRecord{"field \"label\" is not a whole number"};
      example.label = fmt::format("{:.0f}", label);
      break;
    }
  }
  put_mentions(record, layout, model, &example.input);
  return example;
}

/// Returns a tag without its prefix; data may mark the beginning of entities differently from the model.
std::string entity_of(const std::string& tag) {
  const bool marked = tag.size() > 2 && tag[1] == '-' && std::string("BIESUL").find(tag[0]) != std::string::npos;
  return marked ? tag.substr(2) : tag;
}

/// Which labels and tags of the data the model has.
class Known {
 public:
  explicit Known(const Model& model) : model_(model) {
    if (!has_part(model.task(), kWordsPart)) return;
    const uint32_t set = word_label_set(model);
    for (uint32_t i = 0; i < model.label_count(set); ++i) {
      const std::string tag = to_string(model.label(set, i));
      tags_.insert(tag);
      tags_.insert(entity_of(tag));
    }
  }

  void note(const Example& example, Dataset* data) const {
    bool unknown = false;
    if (model_.label_set_count() != 0) {
      std::vector<std::string> names = example.labels;
      if (example.out_of_scope) {
        ++data->out_of_scope;
      } else if (data->layout == Layout::kLabel || data->layout == Layout::kJoint) {
        names.push_back(example.label);
      }
      for (const std::string& name : names)
        unknown = !count(find_label(model_, 0, name).has_value(), name, example, &data->labels) || unknown;
    }
    for (const std::string& tag : example.tags) {
      if (tags_.empty() || tag == "O") continue;
      const bool known = tags_.count(tag) != 0 || tags_.count(entity_of(tag)) != 0;
      unknown = !count(known, tag, example, &data->tags) || unknown;
    }
    data->unknown += unknown ? 1 : 0;
  }

 private:
  static bool count(bool known, const std::string& name, const Example& example, Names* names) {
    if (known) {
      ++names->known;
    } else if (names->unknown++ == 0) {
      names->first_unknown = fmt::format("\"{}\" in line {}", printable(name), example.line);
    }
    return known;
  }

  const Model& model_;
  std::set<std::string> tags_;  // and the names of their entities
};

}  // namespace

const std::vector<LayoutText>& layouts() {
  static const std::vector<LayoutText> kLayouts = {
      {Layout::kLabel, "labels", "text, label (name or number)", "accuracy, macro F1, Matthews, F1 of each label"},
      {Layout::kLabels, "lists of labels", "text, labels (a list)",
       "micro and macro F1, exact match, F1 of each label"},
      {Layout::kScore, "scores", "text_a, text_b, score", "Pearson and Spearman of cosine or regression value"},
      {Layout::kJoint, "intents and slots", "text, intent [, tokens, slots]",
       "intent accuracy, slot F1, sentence accuracy"},
      {Layout::kTags, "tags", "tokens, tags", "entity F1, in all and of each name"},
      {Layout::kAnswers, "answers", "question, context, answers", "exact match and F1"},
      {Layout::kChoices, "choices", "text, choices, label (number)", "accuracy"},
      {Layout::kTexts, "texts", "text, target (a text, or a list)", "BLEU, chrF, ROUGE, word error, exact match"},
  };
  return kLayouts;
}

const char* layout_name(Layout layout) { return layouts().at(static_cast<size_t>(layout)).name; }

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
      return (task.parts & (kWordsPart | kFoundPart)) != 0;
    case Layout::kAnswers:
      return (task.parts & kSpanPart) != 0;
    case Layout::kChoices:
      return (task.parts & kChoicePart) != 0;
    case Layout::kTexts:
      return (task.parts & kNextWordsPart) != 0;
  }
  return false;
}

bool means_out_of_scope(const std::string& label) { return label == kOutOfScope || label == "oos"; }

std::vector<std::string> entity_names(const Dataset& data) {
  std::vector<std::string> names;
  for (const Example& example : data.examples) {
    for (const std::string& tag : example.tags) {
      const std::string name = entity_of(tag);
      if (tag != "O" && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
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
  data.sets = further_sets(model);
  RecordReader reader(path);
  const Known known(model);
  std::vector<std::string> problems;
  size_t bad = 0;
  bool known_layout = false;
  Record record;
  for (bool more = true; more && (limit == 0 || data.examples.size() < limit);) {
    try {
      more = reader.next(&record);
      if (!more) break;
      if (!known_layout) {
        data.layout = layout_of(record, model);
        known_layout = true;
      }
      Example example = example_of(record, data.layout, model);
      example.out_of_scope = means_out_of_scope(example.label) && !find_label(model, 0, example.label);
      if (example.out_of_scope) example.label = kOutOfScope;
      example.sets = gold_of_sets(record, model, example.tokens.size());
      example.line = reader.line_number();
      known.note(example, &data);
      data.examples.push_back(std::move(example));
    } catch (const BadRecord& problem) {
      if (bad++ < kMostShown) problems.push_back(fmt::format("{}:{}: {}", path, reader.line_number(), problem.what));
    }
  }
  data.skipped = bad;
  if (bad > 0 && !skip_bad) {
    if (bad > kMostShown) problems.push_back(fmt::format("{}: ... {} bad lines in all", path, bad));
    problems.push_back(fmt::format("{}: correct them, or leave them out with --skip-bad", path));
    throw Error(ExitCode::kInvalid, problems);
  }
  if (data.examples.empty())
    fail(ExitCode::kInvalid, "{}: there is no example in it; pass lines of JSON, or a table, with labels", path);
  return data;
}

void refuse_unknown(const Dataset& data, const Model& model, const std::string& called) {
  const auto refuse = [&](const Names& names, const char* what, uint32_t set) {
    if (names.known > 0 || names.unknown == 0) return;
    std::string own;
    constexpr uint32_t kShown = 5;
    for (uint32_t i = 0; i < std::min(kShown, model.label_count(set)); ++i) {
      own += fmt::format("{}{}", i == 0 ? "" : ", ", printable(to_string(model.label(set, i))));
    }
    if (model.label_count(set) > kShown) own += ", ...";
    fail(ExitCode::kInvalid,
         "{}: {} knows none of its {}, such as {}; the model's are {} (bantam inspect shows all): rename those of the "
         "data, or "
         "pass other data",
         data.path, called, what, names.first_unknown, own);
  };
  refuse(data.labels, "labels", 0);
  refuse(data.tags, data.layout == Layout::kJoint ? "slots" : "tags", word_label_set(model));
}

}  // namespace bantam::convert
