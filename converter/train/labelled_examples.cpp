#include "train/labelled_examples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/fail.h"
#include "base/printable.h"
#include "base/status_error.h"
#include "data/records.h"
#include "graph/task_parts.h"
#include "pack/build.h"
#include "run/answer_json.h"
#include "run/images.h"
#include "tasks/words.h"
#include "train/augment.h"

namespace bantam::train {

namespace {

// The defaults of --augment-rate.
constexpr double kSlotRate = 0.6, kWordRate = 0.15;

Text as_text(const std::string& text) { return {text.data(), text.size()}; }

/// Returns the words of a text: runs of non-blanks or, without `blank_words`, the words that `tag` uses.
std::vector<Offset> words_of(const std::string& text, bool blank_words) {
  std::vector<Offset> words;
  Offset word = tasks::next_word(as_text(text), 0, blank_words);
  while (word.begin != word.end) {
    words.push_back(word);
    word = tasks::next_word(as_text(text), word.end, blank_words);
  }
  return words;
}

/// Returns the parts of a text at `offsets`.
Words pieces(const std::string& text, const std::vector<Offset>& offsets) {
  Words words;
  for (const Offset& offset : offsets) words.push_back(text.substr(offset.begin, offset.end - offset.begin));
  return words;
}

int32_t label_number(const Model& model, uint32_t set, const std::string& name) {
  for (uint32_t i = 0; i < model.label_count(set); ++i) {
    if (convert::to_string(model.label(set, i)) == name) return static_cast<int32_t>(i);
  }
  return -1;
}

uint32_t best(const float* logits, uint32_t width) {
  return static_cast<uint32_t>(std::max_element(logits, logits + width) - logits);
}

/// Returns true if a student can learn from data of this layout: if its task labels both texts and words, the data must
/// have both.
bool teaches(const TaskTraits& task, convert::Layout layout) {
  const bool both = (task.parts & kLabelsPart) != 0 && (task.parts & kWordsPart) != 0;
  return convert::fits(task, layout) && (!both || layout == convert::Layout::kJoint);
}

const char* wanted_fields(const TaskTraits& task) {
  if ((task.parts & kLabelsPart) == 0) return "tokens and tags";
  if ((task.parts & kWordsPart) != 0) return "text, intent, tokens and slots";
  return task.scores == kSigmoids   ? "text and labels"
         : task.scores == kUnscored ? "text_a, text_b and score"
                                    : "text and label";
}

}  // namespace

PackedModel::PackedModel(const convert::Graph& graph, const std::string& directory, uint32_t max_tokens) {
  convert::TypeOptions types;
  types.weights = fb::DType::f32;
  bytes_ = convert::build(graph, types);
  convert::check(Model::open(bytes_.data(), bytes_.size(), &model_), directory);
  if (convert::takes_images(model_)) return;
  if (Tokenizer::open(model_, 0, &tokenizer_) != Status::kOk) {
    convert::fail(convert::ExitCode::kInvalid,
                  "{}: has no tokenizer, so it cannot learn from texts; add vocab.txt or tokenizer.json", directory);
  }
  // Truncate as a session does when the model runs.
  const uint32_t stated = tokenizer_.max_tokens() == 0 ? model_.max_sequence() : tokenizer_.max_tokens();
  max_tokens_ = std::min(max_tokens == 0 ? stated : max_tokens, model_.max_sequence());
}

Encoded PackedModel::encode(const convert::Example& example) const {
  if (convert::takes_images(model_)) {
    convert::ImageBatch image(model_);
    image.add(example.input.first);
    Encoded out;
    out.ids.assign(image.form().tokens, 0);
    out.segments = out.ids;
    out.features = image.features();
    return out;
  }
  std::vector<int32_t> ids(max_tokens_), segments(max_tokens_);
  std::vector<Offset> offsets(max_tokens_);
  std::vector<uint8_t> sequences(max_tokens_);
  EncodeOptions options;
  options.max_tokens = max_tokens_;
  EncodeResult result;
  const TokenBuffer buffer{ids.data(), segments.data(), offsets.data(), sequences.data(), max_tokens_};
  const Text second = example.input.second ? as_text(*example.input.second) : Text{};
  convert::check(tokenizer_.encode(as_text(example.input.first), second, options, buffer, &result),
                 fmt::format("line {}", example.line));
  Encoded out;
  out.ids.assign(ids.begin(), ids.begin() + result.count);
  out.segments.assign(segments.begin(), segments.begin() + result.count);
  uint32_t row = 0;
  for (const Offset& word : example.tokens.empty() ? words_of(example.input.first, false) : example.tokens) {
    // As in `eval`: the first piece that begins in the word.
    while (row < result.count && (sequences[row] != 0 || offsets[row].begin < word.begin)) ++row;
    const bool inside = row < result.count && offsets[row].begin < word.end;
    out.words.push_back(inside ? row : kNoRow);
  }
  return out;
}

DistillData::DistillData(const convert::Graph& student, const convert::Graph* teacher, const DistillOptions& options)
    : options_(options), student_(student, options.student, options.max_tokens) {
  if (teacher != nullptr) teacher_ = std::make_unique<PackedModel>(*teacher, options.teacher, 0);
  task_ = traits(student_.model().task());
  const bool words = (task_.parts & kWordsPart) != 0;
  train_ = read(options.data, options.limit);
  if (!options.validation.empty()) valid_ = read(options.validation, 0);
  const bool varied = options.augment > 0 && !words;
  if (varied && !options.settings.loss.needs_teacher()) {
    convert::fail(
        convert::ExitCode::kUsage,
        "--augment of texts to classify brings texts for which only a teacher answers; add --teacher and a --soft or "
        "--hidden above 0");
  }
  if ((varied || !options.texts.empty()) && task_.scores != kSoftmax) {
    convert::fail(convert::ExitCode::kUnsupported,
                  "--texts and --augment are for one label of several, and for words; {} gives values",
                  options.student);
  }
  if (options.augment > 0 && convert::takes_images(student_.model())) {
    convert::fail(convert::ExitCode::kUsage,
                  "--augment: varies texts, but {} reads images or sounds; vary those in the data", options.student);
  }
  if (options.augment > 0) words ? exchange_slots(&train_) : vary_texts(&train_);
  if (!options.texts.empty()) add_texts(&train_);
}

convert::Dataset DistillData::read(const std::string& path, size_t limit) const {
  convert::Dataset data = convert::read_dataset(path, student_.model(), limit, options_.skip_bad);
  const Model& model = student_.model();
  if (!teaches(task_, data.layout)) {
    convert::fail(convert::ExitCode::kInvalid, "{}: holds {}, but {} is a model for \"{}\"; that needs {}", path,
                  convert::layout_name(data.layout), options_.student, convert::task_name(model.task()),
                  wanted_fields(task_));
  }
  convert::refuse_unknown(data, model, options_.student);
  convert::Problems problems;
  if (data.labels.unknown > 0) {
    problems.add(convert::ExitCode::kInvalid,
                 fmt::format("{}: {} examples have a label that {} does not know, such as {}; correct the data or the "
                             "labels in config.json",
                             path, data.labels.unknown, options_.student, data.labels.first_unknown));
  }
  if ((task_.parts & kWordsPart) != 0) {
    std::set<std::string> unknown;
    size_t first = 0, lacking = 0, first_lacking = 0;
    for (const convert::Example& example : data.examples) {
      if (example.tokens.empty() && lacking++ == 0) first_lacking = example.line;
      for (const std::string& tag : example.tags) {
        if (label_number(model, word_label_set(model), tag) >= 0) continue;
        if (unknown.empty()) first = example.line;
        unknown.insert(tag);
      }
    }
    std::string names;
    for (const std::string& name : unknown) names += (names.empty() ? "" : ", ") + convert::printable(name);
    if (!unknown.empty()) {
      problems.add(convert::ExitCode::kInvalid,
                   fmt::format("{}:{}: tags that {} does not know: {}", path, first, options_.student, names));
    }
    if (lacking > 0) {
      problems.add(convert::ExitCode::kInvalid, fmt::format("{}:{}: {} examples have no tokens and slots to learn from",
                                                            path, first_lacking, lacking));
    }
  }
  problems.raise();
  return data;
}

void DistillData::exchange_slots(convert::Dataset* data) const {
  std::vector<TaggedWords> sentences;
  for (size_t i = 0; i < data->examples.size(); ++i) {
    const convert::Example& example = data->examples[i];
    TaggedWords sentence;
    sentence.words = pieces(example.input.first, example.tokens);
    sentence.tags = example.tags;
    sentence.origin = i;
    sentences.push_back(std::move(sentence));
  }
  const auto more = train::substitute_slots(sentences, options_.augment, options_.augment_rate.value_or(kSlotRate),
                                            options_.settings.seed);
  for (const TaggedWords& sentence : more) {
    convert::Example example = data->examples[sentence.origin];
    convert::set_tokens(sentence.words, sentence.tags, &example);
    data->examples.push_back(std::move(example));
  }
}

void DistillData::vary_texts(convert::Dataset* data) const {
  std::vector<Words> texts;
  for (const convert::Example& example : data->examples) {
    if (!example.out_of_scope) texts.push_back(pieces(example.input.first, words_of(example.input.first, true)));
  }
  const double rate = options_.augment_rate.value_or(kWordRate);
  for (const Words& words : train::vary_texts(texts, options_.augment, rate, options_.settings.seed)) {
    convert::Example example;
    example.input.first = fmt::format("{}", fmt::join(words, " "));
    data->examples.push_back(std::move(example));
  }
}

void DistillData::add_texts(convert::Dataset* data) const {
  convert::RecordReader reader(options_.texts, convert::PlainLine::kText);
  convert::Record record;
  try {
    while (reader.next(&record)) {
      convert::Example example;
      example.line = reader.line_number();
      example.input.first = record.first();
      if (!words_of(example.input.first, true).empty()) data->examples.push_back(std::move(example));
    }
  } catch (const convert::BadRecord& bad) {
    convert::fail(convert::ExitCode::kInvalid, "--texts {}, line {}: {}", options_.texts, reader.line_number(),
                  bad.what);
  }
}

Example DistillData::example(const convert::Example& line) const {
  const Model& model = student_.model();
  Example out;
  out.student = student_.encode(line);
  if (teacher_) out.teacher = teacher_->encode(line);
  const bool labels = (task_.parts & kLabelsPart) != 0;
  if (labels && task_.scores == kUnscored) {
    out.values.push_back(line.score);
  } else if (labels && task_.scores == kSigmoids) {
    out.values.assign(model.label_count(0), 0.0F);
    for (const std::string& name : line.labels) out.values.at(static_cast<size_t>(label_number(model, 0, name))) = 1;
  } else if (labels) {
    out.label = label_number(model, 0, line.label);
    out.out_of_scope = line.out_of_scope;
  }
  if ((task_.parts & kWordsPart) != 0) {
    for (const std::string& tag : line.tags) out.tags.push_back(label_number(model, word_label_set(model), tag));
  }
  return out;
}

std::vector<Example> DistillData::examples(const convert::Dataset& data) const {
  std::vector<Example> out;
  out.reserve(data.examples.size());
  for (const convert::Example& line : data.examples) out.push_back(example(line));
  return out;
}

std::vector<Example> DistillData::training() const { return examples(train_); }

std::vector<Example> DistillData::validation() const {
  encoded_validation_ = examples(valid_);
  return encoded_validation_;
}

Scores DistillData::score(const std::vector<Logits>& logits) const {
  const Model& model = student_.model();
  convert::Outcome outcome;
  const bool labels = (task_.parts & kLabelsPart) != 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (labels && task_.scores == kUnscored) {
      outcome.scores.push_back(logits[i].label.at(0));
    } else if (labels && task_.scores == kSigmoids) {
      std::vector<std::string> held;
      for (uint32_t k = 0; k < logits[i].label.size(); ++k) {
        // The probability is above one half.
        if (logits[i].label[k] > 0) held.push_back(convert::label_name(model, k));
      }
      outcome.label_lists.push_back(std::move(held));
    } else if (labels) {
      const auto width = static_cast<uint32_t>(logits[i].label.size());
      outcome.labels.push_back(convert::label_name(model, best(logits[i].label.data(), width)));
    }
    if ((task_.parts & kWordsPart) == 0) continue;
    const uint32_t width = model.label_count(word_label_set(model));
    const float* row = logits[i].words.data();
    std::vector<std::string> tags;
    for (const uint32_t word : encoded_validation_[i].student.words) {
      if (word == kNoRow) {
        tags.emplace_back("O");
        continue;
      }
      tags.push_back(convert::to_string(model.label(word_label_set(model), best(row, width))));
      row += width;
    }
    outcome.tags.push_back(std::move(tags));
  }
  // The score that ranks models is the mean of these scores, which are the ones that people report.
  static const std::set<std::string> kCounted = {"accuracy",         "intent_accuracy",   "slot_f1_strict",
                                                 "entity_f1_strict", "sentence_accuracy", "pearson",
                                                 "spearman",         "micro_f1"};
  Scores scores;
  double counted = 0;
  for (const auto& [name, value] : convert::score(valid_, outcome)) {
    scores.all.emplace_back(name, value);
    if (kCounted.count(name) == 0) continue;
    scores.primary += value;
    counted += 1;
  }
  scores.primary /= std::max(1.0, counted);
  return scores;
}

}  // namespace bantam::train
