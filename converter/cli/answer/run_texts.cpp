// The streaming loop behind run, classify, choose, tag, answer, embed and fill.
#include <chrono>

#include "base/npy.h"
#include "base/output_file.h"
#include "cli/answer/answers.h"
#include "cli/answer/run.h"
#include "cli/answer/stream.h"
#include "cli/frame/appearance.h"
#include "cli/frame/errors.h"
#include "data/records.h"
#include "data/text_source.h"
#include "run/runner.h"
#include "score/eval_metrics.h"
#include "score/similarity.h"

namespace bantam::cli {

using convert::PredictOptions;
using convert::TextSource;

namespace {

/// Returns the parts that both the command prints and the file's answers have.
uint32_t resolve_parts(const ModelFile& file, uint32_t wanted) {
  const uint32_t own = traits(file.model().task()).parts;
  if ((own & wanted) != 0) return own & wanted;
  fail(ExitCode::kUnsupported, "{}: the file is for the task \"{}\"; use bantam run", file.path(),
       task_name(file.model().task()));
}

/// Refuses options that do not apply to the file's task, and input that lacks a second text which the task needs. With
/// --raw, second texts, --top and --offsets are not checked.
void check_fit(const RunOptions& options, const ModelFile& file, uint32_t parts) {
  const char* task = task_name(file.model().task());
  const bool per_token = (parts & kTokenVectorsPart) != 0;
  const bool vectors = (parts & (kVectorPart | kTermsPart)) != 0;
  const char* const role = options.query ? "--query" : options.document ? "--document" : nullptr;
  if (options.query && options.document) fail(ExitCode::kUsage, "--query, --document: a text is one of the two");
  if (role != nullptr && (!(per_token || vectors) || options.raw)) {
    fail(ExitCode::kUsage, "{}: {} knows no queries and documents; leave it out", role, options.raw ? "--raw" : task);
  }
  if (options.truncate_dim != 0 && (options.raw || (parts & kVectorPart) == 0 || (parts & kTermsPart) != 0)) {
    fail(ExitCode::kUsage, "--truncate-dim: {} gives no vector of a text; leave it out", options.raw ? "--raw" : task);
  }
  if (options.truncate_dim > (options.truncate_dim != 0 ? convert::embedding_width(file.model()) : 0)) {
    fail(ExitCode::kUsage, "--truncate-dim {}: vectors of {} have {} numbers", options.truncate_dim, options.model,
         convert::embedding_width(file.model()));
  }
  if (!options.output.empty() && per_token) {
    fail(ExitCode::kUsage, "--output: holds a row a text, the task \"{}\" gives several; use --json", task);
  }
  if (options.raw) return;
  const bool asks = options.question.has_value() || options.context.has_value();
  const bool second = !options.pairs.empty() || asks;
  if (second && !convert::takes_second(parts)) {
    fail(ExitCode::kUsage, "{}: the task \"{}\" answers one text; leave it out", asks ? "--question" : "--pair", task);
  }
  if (options.top && !convert::has_best(parts)) {
    fail(ExitCode::kUsage, "--top: the task \"{}\" gives no list of labels or candidates; leave it out", task);
  }
  if (options.offsets != PositionUnit::kBytes && !convert::has_places(parts)) {
    fail(ExitCode::kUsage, "--offsets: the task \"{}\" gives no places in the text; leave it out", task);
  }
  if (second || !convert::needs_second(parts) || (parts & kChoicePart) != 0) return;
  if ((parts & kSpanPart) != 0)
    fail(ExitCode::kUsage, "this file answers questions from a context: add --context TEXT, or --question TEXT");
  fail(ExitCode::kUsage, "this file compares two texts: add the second by --pair TEXT");
}

/// Returns the mentions that the last line read from the source states for its text: the first text of `input`, or the
/// second.
std::vector<convert::Mention> mentions_of(const TextSource& source, const Input& input, bool second) {
  try {
    return convert::read_mentions(source.entities(), {input.first.size(), input.second.value_or("").size()}, second);
  } catch (const convert::BadRecord& bad) {
    fail(ExitCode::kInvalid, "{}: {}", source.place(), bad.what);
  }
}

/// Reads texts and turns them into inputs according to --pair, --question and --context.
class Inputs {
 public:
  Inputs(const RunOptions& options, const Model& model)
      : options_(options),
        takes_entities_(convert::takes_entities(model)),
        source_(texts(options), options.file, warn, show_prompt) {
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

  /// Returns false at the end. If a line holds no text, throws (kInvalid) and leaves `input` without one.
  bool next(Input* input) {
    std::string text;
    *input = {};
    if (!source_.next(&text)) return false;
    if (options_.question) {
      input->first = *options_.question;
      input->second = std::move(text);
    } else if (options_.context) {
      input->first = std::move(text);
      input->second = *options_.context;
    } else {
      input->first = std::move(text);
      if (!options_.pairs.empty()) input->second = options_.pairs[0];
    }
    if (takes_entities_) input->mentions = mentions_of(source_, *input, options_.question.has_value());
    return true;
  }

  /// Returns true if the next text is available without waiting.
  bool ready() { return source_.ready(); }

  /// Returns true if several answers are expected, so that each answer needs its text above it.
  bool several() const {
    const bool typed = options_.texts.size() == 1 && options_.file.empty() && convert::input_is_typed();
    return is_stream(options_.texts, options_.file) && !typed;
  }

 private:
  static std::vector<std::string> texts(const RunOptions& options) {
    if (options.question && options.context) return {*options.context};
    return options.texts;
  }

  const RunOptions& options_;
  bool takes_entities_;
  TextSource source_;
};

using Clock = std::chrono::steady_clock;

float milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<float, std::milli>(Clock::now() - start).count();
}

void write_time(const RunOptions& options, float milliseconds, Json* object) {
  if (options.time) (*object)["ms"] = milliseconds;
}

void answer_batch(const RunOptions& options, Predictor& predictor, const std::vector<Input>& batch, bool several) {
  const Clock::time_point start = Clock::now();
  const std::vector<Prediction> predictions = predictor.predict(batch);
  const float spent = milliseconds_since(start);
  for (size_t i = 0; i < batch.size(); ++i) require_answer(predictor, batch[i], predictions[i]);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (options.json || options.raw) {
      Json object = json_object(options.command);
      put_answer(predictor, batch[i], predictions[i], options.offsets, &object);
      write_time(options, spent, &object);
      out().line(object);
    } else {
      print_answer(predictor, batch[i], predictions[i], options.offsets, several);
      if (options.time) out().print("{}{}\n", several ? "  " : "", dim(fmt::format("{:.2f} ms", spent)));
    }
  }
  out().flush();
}

void raw_batch(const RunOptions& options, Engine& engine, convert::EntityMarks& marks,
               const std::vector<Input>& batch) {
  Session& session = engine.session();
  session.clear();
  for (const Input& input : batch) {
    const Text second = input.second ? Text{input.second->data(), input.second->size()} : Text{};
    check(options.labels.empty() ? session.add({input.first.data(), input.first.size()}, second, {})
                                 : convert::add_labelled(session, input.first, options.labels),
          engine.file().path());
    marks.put(session, input.mentions, 0, engine.file().path());
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

void raw_images(const RunOptions& options, Engine& engine, const std::vector<Input>& batch) {
  convert::ImageBatch images(engine.model());
  for (const Input& input : batch) images.add(input.first);
  check(engine.session().run(images.view()), engine.file().path());
  for (uint32_t i = 0; i < batch.size(); ++i) {
    Json object = json_object(options.command);
    object["text"] = batch[i].first;
    object["outputs"] = raw_outputs(engine.session(), i);
    out().line(object);
  }
  out().flush();
}

void choose_one(const RunOptions& options, Predictor& predictor, const Input& input) {
  const std::string& prompt = input.first;
  const Clock::time_point start = Clock::now();
  const Prediction prediction = predictor.choose(input, options.pairs);
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
    print_choices(prompt, options.pairs, prediction, is_stream(options.texts, options.file));
    if (options.time) out().print("{}\n", dim(fmt::format("{:.2f} ms", spent)));
  }
  out().flush();
}

PredictOptions predict_options(const RunOptions& options) {
  PredictOptions predict;
  predict.top = options.top.value_or(5);
  predict.strict = options.strict;
  predict.role = options.query ? TextRole::kQuery : options.document ? TextRole::kDocument : TextRole::kPlain;
  predict.width = options.truncate_dim;
  predict.stride = options.stride;
  predict.labels = options.labels;
  predict.find = options.find;
  predict.aggregation = options.aggregation;
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
  Predictor predictor(engine, kChoicePart, predict_options(options));
  TextSource source(options.texts, options.file, warn, show_prompt);
  RunOptions one = options;
  one.engine.batch = 1;
  const auto next = [&](Input* input) {
    *input = {};
    if (!source.next(&input->first)) return false;
    if (convert::takes_entities(file.model())) input->mentions = mentions_of(source, *input, false);
    return true;
  };
  answer_stream(one, {next, [&](const std::vector<Input>& texts) { choose_one(options, predictor, texts.at(0)); }});
}

/// Returns true if texts of a stream run in packed batches. They do not if single runs matter: for --batch, --time and
/// --raw.
bool packs_texts(const RunOptions& options) {
  return !options.batch && is_stream(options.texts, options.file) && !options.time && !options.raw;
}

/// Vectors of texts, for --output.
struct Vectors {
  std::vector<float> values;
  size_t rows = 0;
};

void gather(Predictor& predictor, const std::vector<Input>& batch, Vectors* vectors) {
  for (const Prediction& prediction : predictor.predict(batch)) {
    vectors->values.insert(vectors->values.end(), prediction.embedding.begin(), prediction.embedding.end());
    ++vectors->rows;
  }
}

void write_vectors(const Vectors& vectors, convert::OutputFile* file, const std::string& path) {
  const size_t columns = vectors.rows == 0 ? 0 : vectors.values.size() / vectors.rows;
  const std::string bytes = convert::npy_file(vectors.values, vectors.rows, columns);
  file->commit(bytes.data(), bytes.size());
  if (!quiet()) out().print("{}: {} vectors of {} numbers\n", printable(path), vectors.rows, columns);
}

}  // namespace

void run_texts(const RunOptions& options, uint32_t wanted) {
  const bool waits = options.texts.empty() || options.texts[0] == "-" || !options.file.empty();
  const ModelFile file(options.model, waits ? Hold::kInMemory : Hold::kMapped);
  if (file.model().task() == TaskKind::kNone && !options.raw) {
    fail(ExitCode::kUnsupported,
         "{}: the file has no task; convert it with --task embed for vectors, or use --raw for the graph's outputs",
         options.model);
  }
  convert::refuse_only_makes_texts(file);
  const uint32_t parts = options.raw ? traits(file.model().task()).parts : resolve_parts(file, wanted);
  check_fit(options, file, parts);
  if (parts == kChoicePart) return run_choices(options, file);
  Inputs inputs(options, file.model());
  RunOptions packed = options;
  const bool packs = packs_texts(options);
  if (packs) packed.engine.batch = convert::kPacked;
  Engine engine(file, packed.engine);
  const bool images = convert::takes_images(file.model());
  if (!images && engine.session().tokenizer() == nullptr) check(Status::kNoTokenizer, options.model);
  convert::EntityMarks marks(file.model());
  std::optional<Predictor> predictor;
  if (!options.raw) predictor.emplace(engine, parts, predict_options(options));
  Vectors vectors;
  std::optional<convert::OutputFile> file_of_vectors;
  if (!options.output.empty()) {
    convert::refuse_input_as_output(options.output, {options.model, options.file});
    file_of_vectors.emplace(options.output);
  }
  Stream stream{[&](Input* input) { return inputs.next(input); },
                [&](const std::vector<Input>& texts) {
                  if (file_of_vectors) {
                    gather(*predictor, texts, &vectors);
                  } else if (predictor) {
                    answer_batch(options, *predictor, texts, inputs.several());
                  } else if (images) {
                    raw_images(options, engine, texts);
                  } else {
                    raw_batch(options, engine, marks, texts);
                  }
                }};
  if (packs) stream.ready = [&inputs] { return inputs.ready(); };
  answer_stream(packed, stream);
  if (file_of_vectors) write_vectors(vectors, &*file_of_vectors, options.output);
}

void run_similar(const RunOptions& options) {
  if (options.pairs.size() > 1) fail(ExitCode::kUsage, "--pair: similar takes one; pass the others as texts");
  const ModelFile file(options.model);
  const uint32_t parts = resolve_parts(file, kVectorPart);
  TextSource source(options.texts, options.file, warn, show_prompt);
  std::string query;
  if (!options.pairs.empty()) {
    query = options.pairs[0];
  } else if (!source.next(&query)) {
    fail(ExitCode::kUsage, "no text: pass two or more, or one and --pair");
  }
  Engine engine(file, options.engine);
  Predictor predictor(engine, parts, predict_options(options));
  const convert::Similarity by = convert::similarity_of(file.model());
  const bool terms = has_part(file.model().task(), kTermsPart);  // print the terms that both texts have in common
  const std::vector<float> wanted = predictor.predict({{query, std::nullopt}}).at(0).embedding;
  bool any = false;
  const auto next = [&](Input* input) {
    const bool more = source.next(&input->first);
    any = any || more;
    return more;
  };
  const auto answer = [&](const std::vector<Input>& texts) {
    const Prediction other = predictor.predict(texts).at(0);
    const float score = terms ? convert::dot(wanted, other.embedding) : convert::compare(by, wanted, other.embedding);
    if (options.json) {
      Json object = json_object(options.command);
      object["text"] = query;
      object["pair"] = texts[0].first;
      object["score"] = score;
      object["truncated"] = other.truncated;
      out().line(object);
    } else {
      out().print("{:7.4f}{}  {}\n", score, bar(score), printable(texts[0].first));
    }
    out().flush();
  };
  answer_stream(options, {next, answer});
  if (!any) fail(ExitCode::kUsage, "one text alone: pass another to compare it with, or --pair TEXT");
}

}  // namespace bantam::cli
