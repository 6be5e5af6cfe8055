// The streaming loop behind run, classify, choose, tag, answer, embed and fill.
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cli/answers.h"
#include "cli/appearance.h"
#include "cli/errors.h"
#include "cli/run.h"
#include "run/eval_metrics.h"
#include "run/text_source.h"

namespace bantam::cli {

using convert::cosine;
using convert::PredictOptions;
using convert::TextSource;

namespace {

/// The task to run: the one named, where the file can do it.
TaskKind resolve_task(const ModelFile& file, TaskKind wanted, bool pair) {
  const TaskKind own = file.model().task();
  if (wanted == TaskKind::kNone) {
    if (own == TaskKind::kPretraining && pair) return TaskKind::kNextSentence;
    return own;
  }
  const bool labels = own == TaskKind::kClassify || own == TaskKind::kMultiLabel || own == TaskKind::kRegress;
  if (wanted == TaskKind::kClassify) {
    if (labels || own == TaskKind::kNextSentence) return own;
    if (own == TaskKind::kJoint) return TaskKind::kClassify;
    if (own == TaskKind::kPretraining) return TaskKind::kNextSentence;
  }
  if (wanted == TaskKind::kTag && (own == TaskKind::kTag || own == TaskKind::kJoint)) return TaskKind::kTag;
  if (wanted == TaskKind::kFill && (own == TaskKind::kFill || own == TaskKind::kPretraining)) return own;
  if (wanted == own) return own;
  fail(ExitCode::kUnsupported, "{}: the file is for the task \"{}\"; use bantam run", file.path(), task_name(own));
}

/// A question without a context has no answer, and one sentence no next one: without a second text nothing is computed.
void require_second(const RunOptions& options, TaskKind task) {
  const bool second = !options.pairs.empty() || options.question.has_value() || options.context.has_value();
  if (options.raw || second) return;
  if (task == TaskKind::kAnswer)
    fail(ExitCode::kUsage, "this file answers questions from a context: add --context TEXT, or --question TEXT");
  if (task == TaskKind::kNextSentence)
    fail(ExitCode::kUsage, "this file compares two texts: add the second by --pair TEXT");
}

/// Reads texts and makes inputs of them, as --pair, --question and --context say.
class Inputs {
 public:
  explicit Inputs(const RunOptions& options)
      : options_(options), source_(texts(options), options.file, warn, show_prompt) {
    if (options.pairs.size() > 1)
      fail(ExitCode::kUsage, "--pair: this task takes one; only multiple choice takes several");
    const bool asks = options.question.has_value() || options.context.has_value();
    if (asks && !options.pairs.empty()) fail(ExitCode::kUsage, "--pair: goes without --question and --context");
    const bool both = options.question.has_value() && options.context.has_value();
    const bool more = !options.texts.empty() || !options.file.empty();
    if (both && more) fail(ExitCode::kUsage, "--question with --context: leave out the other texts, or one of the two");
    if (!both && !more) {
      fail(ExitCode::kUsage, "no text: pass it as an argument, by --file, or on standard input");
    }
  }

  /// False at the end. `input` is left without a text where its line holds none, which throws (kInvalid).
  bool next(Input* input) {
    std::string text;
    *input = {};
    if (!source_.next(&text)) return false;
    if (options_.question) {
      *input = {*options_.question, std::move(text)};
    } else if (options_.context) {
      *input = {std::move(text), *options_.context};
    } else {
      input->first = std::move(text);
      if (!options_.pairs.empty()) input->second = options_.pairs[0];
    }
    return true;
  }

  /// Do texts come one after another, so that one which cannot be answered does not end the command?
  bool stream() const {
    return options_.texts.size() > 1 || !options_.file.empty() ||
           std::find(options_.texts.begin(), options_.texts.end(), "-") != options_.texts.end();
  }

  /// Are several answers to be expected, so that each needs its text above it?
  bool several() const {
    const bool typed = options_.texts.size() == 1 && options_.file.empty() && convert::input_is_typed();
    return stream() && !typed;
  }

 private:
  static std::vector<std::string> texts(const RunOptions& options) {
    if (options.question && options.context) return {*options.context};
    return options.texts;
  }

  const RunOptions& options_;
  TextSource source_;
};

using Clock = std::chrono::steady_clock;

float milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<float, std::milli>(Clock::now() - start).count();
}

void write_time(const RunOptions& options, float milliseconds, Json* object) {
  if (options.time) (*object)["ms"] = milliseconds;
}

/// What becomes of texts that cannot be answered: of one text alone the command fails at once; in a stream the others are
/// answered, and the command fails at its end.
class Failures {
 public:
  Failures(const RunOptions& options, bool stream) : options_(options), stream_(stream) {}

  /// Reports it as an object of its own with --json, else on standard error; or throws it on.
  void take(const Error& error, const std::string& text) {
    if (!stream_ || error.code() != ExitCode::kInvalid) throw error;
    ++count_;
    if (options_.json || options_.raw) {
      Json object = json_object(options_.command);
      object["text"] = text;
      object["error"] = fmt::format("{}", fmt::join(error.problems(), "; "));
      out().line(object);
      out().flush();
      return;
    }
    out().flush();
    for (const std::string& problem : error.problems()) std::fprintf(stderr, "bantam: %s\n", problem.c_str());
  }
  void count_answer() { ++answers_; }

  /// Throws when there was one.
  void raise() const {
    if (count_ == 0) return;
    fail(ExitCode::kInvalid, "{} of {} texts could not be answered", count_, count_ + answers_);
  }

 private:
  const RunOptions& options_;
  bool stream_;
  size_t count_ = 0;
  size_t answers_ = 0;
};

void answer_batch(const RunOptions& options, Predictor& predictor, const std::vector<Input>& batch, bool several) {
  const Clock::time_point start = Clock::now();
  const std::vector<Prediction> predictions = predictor.predict(batch);
  const float spent = milliseconds_since(start);
  for (size_t i = 0; i < batch.size(); ++i) require_answer(predictor, batch[i], predictions[i]);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (options.json || options.raw) {
      Json object = json_object(options.command);
      put_answer(predictor, batch[i], predictions[i], &object);
      write_time(options, spent, &object);
      out().line(object);
    } else {
      print_answer(predictor, batch[i], predictions[i], several);
      if (options.time) out().print("{}{}\n", several ? "  " : "", dim(fmt::format("{:.2f} ms", spent)));
    }
  }
  out().flush();
}

void raw_batch(const RunOptions& options, Engine& engine, const std::vector<Input>& batch) {
  Session& session = engine.session();
  session.clear();
  for (const Input& input : batch) {
    const Text second = input.second ? Text{input.second->data(), input.second->size()} : Text{};
    check(session.add({input.first.data(), input.first.size()}, second, {}), engine.file().path());
    const EncodeResult& result = session.sequence(session.sequence_count() - 1).result;
    if (options.strict && result.truncated)
      fail(ExitCode::kInvalid, "--strict: text \"{}\" is too long", printable(input.first));
  }
  check(session.run(), engine.file().path());
  for (uint32_t i = 0; i < session.sequence_count(); ++i) {
    Json object = json_object(options.command);
    object["text"] = batch[i].first;
    const EncodedSequence encoded = session.sequence(i);
    object["ids"] = std::vector<int32_t>(encoded.ids, encoded.ids + encoded.row_count);
    object["outputs"] = raw_outputs(session, i);
    object["truncated"] = encoded.result.truncated;
    out().line(object);
  }
  out().flush();
}

void choose_stream(const RunOptions& options, Predictor& predictor) {
  TextSource source(options.texts, options.file, warn, show_prompt);
  const bool several = options.texts.size() != 1 || options.texts[0] == "-" || !options.file.empty();
  std::string prompt;
  while (source.next(&prompt)) {
    const Clock::time_point start = Clock::now();
    const Prediction prediction = predictor.choose(prompt, options.pairs);
    const float spent = milliseconds_since(start);
    if (options.json) {
      Json object = json_object(options.command);
      put_choices(prompt, options.pairs, prediction, &object);
      write_time(options, spent, &object);
      out().line(object);
    } else if (options.raw) {
      Json object = json_object(options.command);
      object["outputs"] = raw_outputs(predictor.engine().session(), 0);
      out().line(object);
    } else {
      print_choices(prompt, options.pairs, prediction, several);
    }
    out().flush();
  }
}

PredictOptions predict_options(const RunOptions& options) {
  PredictOptions predict;
  predict.top = options.top.value_or(5);
  predict.strict = options.strict;
  predict.stride = options.stride;
  return predict;
}

void run_choices(const RunOptions& options, const ModelFile& file) {
  if (options.pairs.size() < 2) {
    fail(ExitCode::kUsage,
         "--pair: multiple choice needs at least two, such as --pair \"walked in.\" --pair \"ate it.\"");
  }
  if (options.texts.empty() && options.file.empty()) {
    fail(ExitCode::kUsage, "no text: pass the beginning as an argument, by --file, or - for standard input");
  }
  EngineOptions engine_options = options.engine;
  engine_options.batch = static_cast<uint32_t>(options.pairs.size());
  Engine engine(file, engine_options);
  Predictor predictor(engine, TaskKind::kChoose, predict_options(options));
  choose_stream(options, predictor);
}

/// Answers `batch`; where a text of it cannot be answered, each alone.
template <typename Answer>
void answer_each(const std::vector<Input>& batch, const Answer& answer, Failures* failures) {
  if (batch.size() > 1) {
    try {
      answer(batch);
      for (size_t i = 0; i < batch.size(); ++i) failures->count_answer();
      return;
    } catch (const Error& error) {
      if (error.code() != ExitCode::kInvalid) throw;
    }
  }
  for (const Input& input : batch) {
    try {
      answer({input});
      failures->count_answer();
    } catch (const Error& error) {
      failures->take(error, input.first);
    }
  }
}

}  // namespace

void run_texts(const RunOptions& options, TaskKind wanted) {
  const bool waits = options.texts.empty() || options.texts[0] == "-" || !options.file.empty();
  const ModelFile file(options.model, waits ? Hold::kInMemory : Hold::kMapped);
  const TaskKind task = options.raw ? file.model().task() : resolve_task(file, wanted, !options.pairs.empty());
  if (task == TaskKind::kChoose) return run_choices(options, file);
  if (task == TaskKind::kNone && !options.raw) {
    fail(ExitCode::kUnsupported,
         "{}: the file has no task; convert it with --task embed for vectors, or use --raw for the graph's outputs",
         options.model);
  }
  require_second(options, task);
  Inputs inputs(options);
  Engine engine(file, options.engine);
  if (engine.session().tokenizer() == nullptr) check(Status::kNoTokenizer, options.model);
  std::optional<Predictor> predictor;
  if (!options.raw) predictor.emplace(engine, task, predict_options(options));
  const auto answer = [&](const std::vector<Input>& texts) {
    if (predictor) {
      answer_batch(options, *predictor, texts, inputs.several());
    } else {
      raw_batch(options, engine, texts);
    }
  };
  Failures failures(options, inputs.stream());
  std::vector<Input> batch;
  Input input;
  for (bool more = true; more;) {
    std::optional<Error> unreadable;
    try {
      more = inputs.next(&input);
      if (more) batch.push_back(std::move(input));
    } catch (const Error& error) {
      unreadable = error;
    }
    const bool full = batch.size() >= options.engine.batch || !more || unreadable;
    if (!batch.empty() && full) {
      answer_each(batch, answer, &failures);
      batch.clear();
    }
    if (unreadable) failures.take(*unreadable, "");
  }
  failures.raise();
}

void run_similar(const RunOptions& options) {
  if (options.pairs.size() > 1) fail(ExitCode::kUsage, "--pair: similar takes one; pass the others as texts");
  const ModelFile file(options.model);
  const TaskKind task = resolve_task(file, TaskKind::kEmbed, false);
  TextSource source(options.texts, options.file, warn, show_prompt);
  std::string query;
  if (!options.pairs.empty()) {
    query = options.pairs[0];
  } else if (!source.next(&query)) {
    fail(ExitCode::kUsage, "no text: pass two or more, or one and --pair");
  }
  Engine engine(file, options.engine);
  Predictor predictor(engine, task, predict_options(options));
  const std::vector<float> wanted = predictor.predict({{query, std::nullopt}}).at(0).embedding;
  std::string text;
  bool any = false;
  while (source.next(&text)) {
    any = true;
    const Prediction other = predictor.predict({{text, std::nullopt}}).at(0);
    const float score = cosine(wanted, other.embedding);
    if (options.json) {
      Json object = json_object(options.command);
      object["text"] = query;
      object["pair"] = text;
      object["score"] = score;
      object["truncated"] = other.truncated;
      out().line(object);
    } else {
      out().print("{:7.4f}{}  {}\n", score, bar(score), printable(text));
    }
    out().flush();
  }
  if (!any) fail(ExitCode::kUsage, "one text alone: pass another to compare it with, or --pair TEXT");
}

}  // namespace bantam::cli
