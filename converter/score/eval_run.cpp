#include "score/eval_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "base/status_error.h"
#include "run/generate.h"
#include "score/eval_metrics.h"
#include "score/text_metrics.h"

namespace bantam::convert {
namespace {

PredictOptions predict_options(const Model& model, const Dataset& data, Aggregation aggregation) {
  PredictOptions options;
  options.aggregation = aggregation;
  options.top = traits(model.task()).scores == kSigmoids ? 0 : 1;  // with several labels, each may hold
  if (!has_part(model.task(), kFoundPart)) return options;
  options.labels = entity_names(data);
  if (options.labels.empty()) fail(ExitCode::kInvalid, "{}: no tag in it names an entity to find", data.path);
  return options;
}

/// Returns a tag for each token of the data, from the entities that overlap it; tags have prefixes if the data's tags
/// do.
std::vector<std::string> tags_of(const Example& example, const std::vector<Entity>& entities) {
  const bool marked = std::any_of(example.tags.begin(), example.tags.end(), [](const std::string& tag) {
    return tag.size() > 2 && tag[1] == '-' && (tag[0] == 'B' || tag[0] == 'I');
  });
  std::vector<std::string> tags(example.tokens.size(), "O");
  for (const Entity& entity : entities) {
    bool first = true;
    for (size_t i = 0; i < tags.size(); ++i) {
      const Offset& token = example.tokens[i];
      if (token.end <= entity.span.begin || token.begin >= entity.span.end || tags[i] != "O") continue;
      tags[i] = std::string(!marked ? "" : first ? "B-" : "I-") + to_string(entity.name);
      first = false;
    }
  }
  return tags;
}

class Evaluation {
 public:
  Evaluation(Engine& engine, const Dataset& data, Aggregation aggregation)
      : data_(data),
        predictor_(engine, traits(engine.model().task()).parts, predict_options(engine.model(), data, aggregation)) {}

  Outcome run(const EvalProgress& progress) {
    std::vector<Input> inputs;
    std::vector<const Example*> examples;
    size_t done = 0;
    for (const Example& example : data_.examples) {
      if (progress) progress(done++, data_.examples.size());
      if (data_.layout == Layout::kChoices) {
        choose(example);
        continue;
      }
      inputs.push_back(example.input);
      examples.push_back(&example);
      if (inputs.size() == predictor_.engine().batch()) flush(&inputs, &examples);
    }
    flush(&inputs, &examples);
    return std::move(outcome_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<Prediction> predict(const std::vector<Input>& inputs) {
    const Clock::time_point start = Clock::now();
    std::vector<Prediction> predictions = predictor_.predict(inputs);
    outcome_.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    for (const Prediction& prediction : predictions) outcome_.truncated += prediction.truncated ? 1u : 0u;
    return predictions;
  }

  void choose(const Example& example) {
    if (example.choices.size() > predictor_.engine().batch()) {
      fail(ExitCode::kInvalid, "{}:{}: {} choices; run with --batch {} or more", data_.path, example.line,
           example.choices.size(), example.choices.size());
    }
    const Clock::time_point start = Clock::now();
    const Prediction prediction = predictor_.choose(example.input, example.choices);
    outcome_.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    outcome_.truncated += prediction.truncated ? 1u : 0u;
    outcome_.labels.push_back(fmt::format("{}", prediction.labels.at(0).label));
  }

  void flush(std::vector<Input>* inputs, std::vector<const Example*>* examples) {
    if (inputs->empty()) return;
    if ((predictor_.parts() & kVectorPart) != 0) {
      embed_pairs(*inputs);
    } else {
      const std::vector<Prediction> predictions = predict(*inputs);
      for (size_t i = 0; i < predictions.size(); ++i) take(*(*examples)[i], predictions[i]);
    }
    inputs->clear();
    examples->clear();
  }

  /// Embeds both sides of each pair as separate texts.
  void embed_pairs(const std::vector<Input>& inputs) {
    std::vector<Input> first;
    std::vector<Input> second;
    for (const Input& input : inputs) {
      first.push_back({input.first, std::nullopt});
      second.push_back({input.second.value_or(""), std::nullopt});
      for (Mention mention : input.mentions) {
        std::vector<Mention>& mentions = (mention.second ? second : first).back().mentions;
        mention.second = false;
        mentions.push_back(std::move(mention));
      }
    }
    std::vector<Prediction> a = predict(first);
    std::vector<Prediction> b = predict(second);
    for (size_t i = 0; i < a.size(); ++i) {
      outcome_.scores.push_back(cosine(a[i].embedding, b[i].embedding));
      outcome_.embeddings.push_back(std::move(a[i].embedding));
      outcome_.embeddings.push_back(std::move(b[i].embedding));
    }
  }

  void take(const Example& example, const Prediction& prediction) {
    const Model& model = predictor_.engine().model();
    if (data_.layout == Layout::kScore) outcome_.scores.push_back(prediction.labels.at(0).score);
    if (data_.layout == Layout::kLabel || data_.layout == Layout::kJoint) {
      // Data of the model's labels alone are scored as if there was no limit.
      const bool refused = prediction.holds == 0 && data_.out_of_scope > 0;
      outcome_.labels.push_back(
          refused ? kOutOfScope : label_name(model, best_label(model, 0, prediction.labels, prediction.holds).label));
    }
    if (data_.layout == Layout::kLabels) {
      std::vector<std::string> names;
      for (uint32_t i = 0; i < prediction.holds; ++i) names.push_back(label_name(model, prediction.labels[i].label));
      std::sort(names.begin(), names.end());
      outcome_.label_lists.push_back(std::move(names));
    }
    if (data_.layout == Layout::kAnswers) {
      const Answer& answer = prediction.answer;
      const std::string& context = *example.input.second;
      outcome_.answers.push_back(
          answer.answerable ? context.substr(answer.span.begin, answer.span.end - answer.span.begin) : "");
    }
    if ((predictor_.parts() & kWordsPart) != 0) {
      outcome_.tags.push_back(
          token_tags(model, word_label_set(model), example.tokens, prediction.words, prediction.word_labels));
    }
    if ((predictor_.parts() & kFoundPart) != 0) outcome_.tags.push_back(tags_of(example, prediction.entities));
    if (!prediction.further.empty()) outcome_.sets.push_back(said_of_sets(model, example.tokens, prediction));
  }

  const Dataset& data_;
  Predictor predictor_;
  Outcome outcome_;
};

/// Generates the file's output for each text. Texts that are too long are truncated at the end.
Outcome generate_texts(const ModelFile& file, const EngineOptions& given, const Dataset& data,
                       const EvalProgress& progress, GenerateOptions options) {
  options.cut = true;
  const Decoding decoding = resolve_decoding(file.model(), options);
  const uint32_t batch = decoding.has_beams() ? 1 : std::max(given.batch, 1U);
  Engine engine(file, with_contexts(file.model(), decoding, given, batch, 0));
  Outcome outcome;
  for (size_t at = 0; at < data.examples.size(); at += batch) {
    if (progress) progress(at, data.examples.size());
    std::vector<std::string> texts;
    for (size_t i = at; i < std::min(data.examples.size(), at + batch); ++i) {
      texts.push_back(data.examples[i].input.first);
    }
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Made> all = generate(engine, decoding, texts, nullptr);
    outcome.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const Made& made : all) {
      outcome.truncated += made.cut_tokens != 0 ? 1 : 0;
      outcome.texts.push_back(made.text);
    }
  }
  return outcome;
}

void score_texts(const Dataset& data, const Outcome& outcome, Metrics* metrics) {
  TextMetrics texts;
  for (size_t i = 0; i < outcome.texts.size(); ++i) texts.add(outcome.texts[i], data.examples[i].answers);
  metrics->emplace_back("bleu", texts.bleu());
  metrics->emplace_back("chrf", texts.chrf());
  metrics->emplace_back("rouge1", texts.rouge_1());
  metrics->emplace_back("rouge2", texts.rouge_2());
  metrics->emplace_back("rougeL", texts.rouge_l());
  metrics->emplace_back("word_error", texts.word_error());
  metrics->emplace_back("exact_match", texts.exact_match());
}

/// Computes micro and macro F1 over labels, and the fraction of texts whose labels are all right.
void score_label_lists(const Dataset& data, const Outcome& outcome, Metrics* metrics) {
  struct Counts {
    double correct = 0, found = 0, wanted = 0;
    double f1() const { return found + wanted == 0 ? 0 : 2 * correct / (found + wanted); }
  };
  std::map<std::string, Counts> labels;
  Counts all;
  double exact = 0;
  for (size_t i = 0; i < data.examples.size(); ++i) {
    const std::set<std::string> wanted(data.examples[i].labels.begin(), data.examples[i].labels.end());
    const std::set<std::string> found(outcome.label_lists[i].begin(), outcome.label_lists[i].end());
    exact += wanted == found ? 1 : 0;
    for (const std::string& name : wanted) labels[name].wanted += 1;
    for (const std::string& name : found) {
      labels[name].found += 1;
      labels[name].correct += wanted.count(name) != 0 ? 1 : 0;
    }
  }
  double macro = 0;
  for (const auto& [name, counts] : labels) {
    all.correct += counts.correct;
    all.found += counts.found;
    all.wanted += counts.wanted;
    macro += counts.f1() / static_cast<double>(labels.size());
  }
  metrics->emplace_back("micro_f1", all.f1());
  metrics->emplace_back("macro_f1", macro);
  metrics->emplace_back("exact_match", exact / static_cast<double>(data.examples.size()));
}

bool has_tags(const Dataset& data, const Outcome& outcome) {
  const bool tagged =
      std::any_of(data.examples.begin(), data.examples.end(), [](const Example& e) { return !e.tags.empty(); });
  return tagged && outcome.tags.size() == data.examples.size();
}

std::vector<std::string> gold_labels(const Dataset& data) {
  std::vector<std::string> labels;
  for (const Example& example : data.examples) labels.push_back(example.label);
  return labels;
}

void score_tags(const Dataset& data, const Outcome& outcome, Metrics* metrics) {
  EntityMetrics entities;
  EntityMetrics strict;
  strict.strict = true;
  double whole = 0;
  for (size_t i = 0; i < data.examples.size(); ++i) {
    const Example& example = data.examples[i];
    entities.add(example.tags, outcome.tags[i]);
    strict.add(example.tags, outcome.tags[i]);
    const bool label_right = outcome.labels.empty() || outcome.labels[i] == example.label;
    whole += label_right && example.tags == outcome.tags[i] ? 1 : 0;
  }
  const bool joint = data.layout == Layout::kJoint;
  metrics->emplace_back(joint ? "slot_f1" : "entity_f1", entities.f1());
  metrics->emplace_back(joint ? "slot_precision" : "entity_precision", entities.precision());
  metrics->emplace_back(joint ? "slot_recall" : "entity_recall", entities.recall());
  metrics->emplace_back(joint ? "slot_f1_strict" : "entity_f1_strict", strict.f1());
  metrics->emplace_back("sentence_accuracy", whole / static_cast<double>(data.examples.size()));
}

double fraction_different(const std::vector<std::string>& a, const std::vector<std::string>& b, double* count) {
  *count = 0;
  for (size_t i = 0; i < a.size(); ++i) *count += a[i] != b[i] ? 1 : 0;
  return a.empty() ? 0 : *count / static_cast<double>(a.size());
}

void compare_tags(const Outcome& outcome, const Outcome& against, Metrics* metrics) {
  double flips = 0;
  double sentences = 0;
  for (size_t i = 0; i < outcome.tags.size(); ++i) {
    double here = 0;
    static_cast<void>(fraction_different(outcome.tags[i], against.tags[i], &here));
    flips += here;
    sentences += here > 0 ? 1 : 0;
  }
  metrics->emplace_back("tag_flips", flips);
  metrics->emplace_back("sentences_with_tag_flips", sentences);
}

void compare_embeddings(const Outcome& outcome, const Outcome& against, Metrics* metrics) {
  std::vector<float> cosines;
  double sum = 0;
  for (size_t i = 0; i < outcome.embeddings.size(); ++i) {
    cosines.push_back(cosine(outcome.embeddings[i], against.embeddings[i]));
    sum += static_cast<double>(cosines.back());
  }
  std::sort(cosines.begin(), cosines.end());
  metrics->emplace_back("cosine_mean", sum / static_cast<double>(cosines.size()));
  metrics->emplace_back("cosine_p1", static_cast<double>(cosines[cosines.size() / 100]));
  metrics->emplace_back("cosine_min", static_cast<double>(cosines.front()));
}

}  // namespace

void refuse_misfit(const ModelFile& file, const Dataset& data) {
  if (fits(traits(file.model().task()), data.layout)) return;
  fail(ExitCode::kUnsupported, "{}: the file's task is \"{}\", which cannot be scored on {} ({})", file.path(),
       task_name(file.model().task()), data.path, layout_name(data.layout));
}

Outcome evaluate(const ModelFile& file, const EngineOptions& engine_options, const Dataset& data,
                 const EvalProgress& progress, const GenerateOptions& generate, Aggregation aggregation) {
  refuse_misfit(file, data);
  if (data.layout == Layout::kTexts) return generate_texts(file, engine_options, data, progress, generate);
  EngineOptions options = engine_options;
  if (data.layout == Layout::kChoices) {
    for (const Example& example : data.examples) {
      options.batch = std::max(options.batch, static_cast<uint32_t>(std::min<size_t>(example.choices.size(), 256)));
    }
  }
  Engine engine(file, options);
  return Evaluation(engine, data, aggregation).run(progress);
}

Metrics score(const Dataset& data, const Outcome& outcome) {
  Metrics metrics;
  if (!outcome.labels.empty()) {
    const LabelMetrics labels = label_metrics(gold_labels(data), outcome.labels);
    metrics.emplace_back(data.layout == Layout::kJoint ? "intent_accuracy" : "accuracy", labels.accuracy);
    metrics.emplace_back("macro_f1", labels.macro_f1);
    metrics.emplace_back("matthews", labels.matthews);
  }
  if (!outcome.texts.empty()) score_texts(data, outcome, &metrics);
  if (!outcome.label_lists.empty()) score_label_lists(data, outcome, &metrics);
  if (has_tags(data, outcome)) score_tags(data, outcome, &metrics);
  if (data.layout == Layout::kScore) {
    std::vector<float> gold;
    for (const Example& example : data.examples) gold.push_back(example.score);
    metrics.emplace_back("pearson", pearson(gold, outcome.scores));
    metrics.emplace_back("spearman", spearman(gold, outcome.scores));
  }
  if (!outcome.answers.empty()) {
    double exact = 0;
    double f1 = 0;
    for (size_t i = 0; i < outcome.answers.size(); ++i) {
      exact += exact_match(data.examples[i].answers, outcome.answers[i]);
      f1 += answer_f1(data.examples[i].answers, outcome.answers[i]);
    }
    metrics.emplace_back("exact_match", exact / static_cast<double>(outcome.answers.size()));
    metrics.emplace_back("f1", f1 / static_cast<double>(outcome.answers.size()));
  }
  if (!outcome.sets.empty()) {
    std::vector<const std::vector<SetLabels>*> gold;
    for (const Example& example : data.examples) gold.push_back(&example.sets);
    for (auto& metric : score_sets(data.sets, gold, outcome.sets)) metrics.push_back(std::move(metric));
  }
  return metrics;
}

Metrics compare(const Dataset& data, const Outcome& outcome, const Outcome& against) {
  Metrics metrics;
  double flips = 0;
  if (!outcome.labels.empty()) {
    const double rate = fraction_different(outcome.labels, against.labels, &flips);
    metrics.emplace_back("label_flips", flips);
    metrics.emplace_back("label_flip_rate", rate);
  }
  if (!outcome.label_lists.empty()) {
    for (size_t i = 0; i < outcome.label_lists.size(); ++i) {
      flips += outcome.label_lists[i] != against.label_lists[i] ? 1 : 0;
    }
    metrics.emplace_back("label_flips", flips);
    metrics.emplace_back("label_flip_rate", flips / static_cast<double>(outcome.label_lists.size()));
  }
  if (!outcome.answers.empty()) {
    const double rate = fraction_different(outcome.answers, against.answers, &flips);
    metrics.emplace_back("answer_flips", flips);
    metrics.emplace_back("answer_flip_rate", rate);
  }
  if (!outcome.texts.empty()) {
    const double rate = fraction_different(outcome.texts, against.texts, &flips);
    metrics.emplace_back("text_flips", flips);
    metrics.emplace_back("text_flip_rate", rate);
  }
  if (has_tags(data, outcome) && outcome.tags.size() == against.tags.size()) compare_tags(outcome, against, &metrics);
  if (!outcome.embeddings.empty() && outcome.embeddings.size() == against.embeddings.size()) {
    compare_embeddings(outcome, against, &metrics);
  }
  if (!outcome.scores.empty()) {
    double largest = 0;
    for (size_t i = 0; i < outcome.scores.size(); ++i) {
      largest =
          std::max(largest, std::fabs(static_cast<double>(outcome.scores[i]) - static_cast<double>(against.scores[i])));
    }
    metrics.emplace_back("largest_score_difference", largest);
  }
  return metrics;
}

}  // namespace bantam::convert
