// bench --text and --texts: from text to answer, split into tokenizer, forward pass and task head.
#include <array>
#include <chrono>

#include "bantam/tasks.h"
#include "cli/bench.h"
#include "cli/frame/build_info.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "data/text_source.h"
#include "format/view.h"
#include "probe/step_bytes.h"
#include "run/runner.h"

namespace bantam::cli {

using convert::TextSource;

namespace {

using Clock = std::chrono::steady_clock;

double microseconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::micro>(end - begin).count();
}

Text view_of(const std::string& text) { return {text.data(), text.size()}; }

/// The file's task head, as a program that embeds the runtime calls it: into buffers that exist.
class Head {
 public:
  Head(const Session& session, size_t most_bytes) : session_(session), spans_(most_bytes / 2 + 1) {}

  Status decode(Text text) {
    const uint32_t parts = traits(session_.model().task()).parts;
    Status status = Status::kOk;
    if ((parts & kLabelsPart) != 0) status = labels();
    if (status == Status::kOk && (parts & kWordsPart) != 0) status = entities(text);
    if (status == Status::kOk && (parts & kFoundPart) != 0) {
      uint32_t count = 0;
      status = find(session_, 0, {}, spans_.data(), static_cast<uint32_t>(spans_.size()), &count);
    }
    if (status == Status::kOk && (parts & kSpanPart) != 0) {
      Answer answer;
      status = bantam::answer(session_, 0, &answer);
    }
    if (status == Status::kOk && (parts & kVectorPart) != 0) {
      const float* values = nullptr;
      uint32_t width = 0;
      status = embed(session_, 0, &values, &width);
    }
    if (status != Status::kOk) return status;
    if ((parts & kMasksPart) != 0) return masks();
    if ((parts & kNextWordsPart) != 0) {
      uint32_t count = 0;
      return next_words(session_, 0, candidates_.data(), static_cast<uint32_t>(candidates_.size()), &count);
    }
    float probability = 0;
    return (parts & kFollowsPart) != 0 ? next_sentence(session_, 0, &probability) : Status::kOk;
  }

 private:
  Status labels() {
    uint32_t count = 0;
    return classify(session_, 0, labels_.data(), static_cast<uint32_t>(labels_.size()), &count);
  }
  Status entities(Text text) {
    uint32_t count = 0;
    return tag(session_, 0, text, spans_.data(), static_cast<uint32_t>(spans_.size()), &count);
  }
  /// Candidates for every [MASK]; a text without one has none.
  Status masks() {
    uint32_t count = 0;
    for (uint32_t mask = 0;; ++mask) {
      const Status status =
          fill(session_, 0, mask, candidates_.data(), static_cast<uint32_t>(candidates_.size()), &count);
      if (status == Status::kIndexOutOfRange) return Status::kOk;
      if (status != Status::kOk) return status;
    }
  }

  const Session& session_;
  std::array<LabelScore, 5> labels_;
  std::array<Candidate, 5> candidates_;
  std::vector<Entity> spans_;
};

/// Microseconds of one text's runs.
struct TextTiming {
  std::string text;
  uint32_t tokens = 0;
  bool truncated = false;
  std::vector<double> tokenize, forward, task, total;
};

std::vector<TextTiming> read_texts(const BenchOptions& options) {
  TextSource source(options.texts, options.texts_file);
  std::vector<TextTiming> texts;
  std::string text;
  while (source.next(&text)) texts.emplace_back().text = text;
  if (texts.empty()) fail(ExitCode::kUsage, "--texts {}: no text in it", options.texts_file);
  return texts;
}

/// Tokenizes, runs and decodes one text. `timing`: where its times go; null: warm-up.
class TextRunner {
 public:
  TextRunner(Engine& engine, const BenchOptions& options, size_t most_bytes)
      : session_(engine.session()), path_(engine.file().path()), head_(session_, most_bytes) {
    if (options.pair) second_ = view_of(*options.pair);
    const fb::Task* task = root(session_.model()).task();
    if (has_part(session_.model().task(), kVectorPart) && task != nullptr) prompt_ = to_string(as_text(task->prompt()));
  }

  void run(TextTiming* timing, bool keep) {
    const std::string first = prompt_ + timing->text;
    const Clock::time_point begin = Clock::now();
    session_.clear();
    const bool finds = has_part(session_.model().task(), kFoundPart);
    check(finds ? convert::add_labelled(session_, first, convert::common_labels())
                : session_.add(view_of(first), second_, {}),
          where(*timing));
    const Clock::time_point tokenized = Clock::now();
    check(session_.run(), where(*timing));
    const Clock::time_point ran = Clock::now();
    const Status status = head_.decode(view_of(first));
    const Clock::time_point end = Clock::now();
    check(status, where(*timing));
    const EncodedSequence sequence = session_.sequence(0);
    timing->tokens = sequence.row_count;
    timing->truncated = sequence.result.truncated;
    if (!keep) return;
    timing->tokenize.push_back(microseconds_between(begin, tokenized));
    timing->forward.push_back(microseconds_between(tokenized, ran));
    timing->task.push_back(microseconds_between(ran, end));
    timing->total.push_back(microseconds_between(begin, end));
  }

 private:
  std::string where(const TextTiming& timing) const {
    return fmt::format("{}: text \"{}\"", path_, printable(timing.text.substr(0, 40)));
  }

  Session& session_;
  const std::string& path_;
  Head head_;
  Text second_;
  std::string prompt_;
};

/// One text's figures, or the mean of all texts'.
struct TextFigures {
  double tokens = 0, tokenize = 0, forward = 0, task = 0, p50 = 0, p99 = 0, least = 0;
};

TextFigures figures_of(const TextTiming& timing) {
  const Spread total = spread_of(timing.total);
  return {static_cast<double>(timing.tokens),
          spread_of(timing.tokenize).p50,
          spread_of(timing.forward).p50,
          spread_of(timing.task).p50,
          total.p50,
          total.p99,
          total.least};
}

TextFigures mean_of(const std::vector<TextTiming>& timings) {
  TextFigures mean;
  const auto share = 1.0 / static_cast<double>(timings.size());
  for (const TextTiming& timing : timings) {
    const TextFigures f = figures_of(timing);
    mean.tokens += f.tokens * share;
    mean.tokenize += f.tokenize * share;
    mean.forward += f.forward * share;
    mean.task += f.task * share;
    mean.p50 += f.p50 * share;
    mean.p99 += f.p99 * share;
    mean.least += f.least * share;
  }
  return mean;
}

void print_json(const Engine& engine, const BenchOptions& options, const TextTiming& timing,
                const std::optional<probe::Cost>& cost, Isa isa) {
  const TextFigures f = figures_of(timing);
  Json object = json_object("bench");
  object["file"] = engine.file().path();
  object["text"] = timing.text;
  object["task"] = task_name(engine.model().task());
  object["tokens"] = timing.tokens;
  object["truncated"] = timing.truncated;
  put_setting(options, engine.threads(), isa, timing.total.size(), &object);
  object["p50_us"] = static_cast<float>(f.p50);
  object["p99_us"] = static_cast<float>(f.p99);
  object["min_us"] = static_cast<float>(f.least);
  object["tokenize_us"] = static_cast<float>(f.tokenize);
  object["forward_us"] = static_cast<float>(f.forward);
  object["task_us"] = static_cast<float>(f.task);
  if (cost) put_cost(*cost, probe::pass_bytes(engine.model()), &object);
  out().line(object);
}

std::vector<std::string> table_row(const TextFigures& f, const std::string& tokens, const std::string& text) {
  std::vector<std::string> row = {tokens};
  for (const double value : {f.p50, f.p99, f.least, f.tokenize, f.forward, f.task}) {
    row.push_back(fmt::format("{:.1f}", value));
  }
  row.push_back(text);
  return row;
}

void print_people(const Engine& engine, const std::vector<TextTiming>& timings, Isa isa) {
  out().print("{}: from text to answer ({}), {}, {} build, {} thread{}; microseconds\n", engine.file().path(),
              task_name(engine.model().task()), isa_name(isa), kBuildType, engine.threads(),
              engine.threads() == 1 ? "" : "s");
  std::vector<std::vector<std::string>> rows = {
      {"tokens", "p50", "p99", "min", "tokenize p50", "forward p50", "task p50", "text"}};
  constexpr size_t kMostRows = 20;
  for (size_t i = 0; i < timings.size() && i < kMostRows; ++i) {
    const std::string& text = timings[i].text;
    rows.push_back(table_row(figures_of(timings[i]), fmt::format("{}", timings[i].tokens),
                             printable(text.size() <= 60 ? text : text.substr(0, 57) + "...")));
  }
  if (timings.size() > 1) {
    const TextFigures mean = mean_of(timings);
    rows.push_back(
        table_row(mean, fmt::format("{:.1f}", mean.tokens), fmt::format("mean of {} texts", timings.size())));
  }
  print_table(rows);
  if (timings.size() > kMostRows) out().print("({} more texts: --json shows them)\n", timings.size() - kMostRows);
}

/// `cost`: of a text, the mean over all; with --cost.
void print_texts(const Engine& engine, const BenchOptions& options, const std::vector<TextTiming>& timings,
                 const std::optional<probe::Cost>& cost, Isa isa) {
  if (options.csv) {
    out().write("tokens,threads,isa,build,repetitions,p50_us,p99_us,min_us,tokenize_us,forward_us,task_us\n");
  } else if (!options.json && !options.plain) {
    print_people(engine, timings, isa);
    if (cost)
      print_cost(*cost, probe::pass_bytes(engine.model()), timings.size() == 1 ? "the text" : "a text, on average,");
    return;
  }
  for (const TextTiming& timing : timings) {
    const TextFigures f = figures_of(timing);
    if (options.json) print_json(engine, options, timing, cost, isa);
    if (options.plain) out().print("{:.4f}\n", f.p50 * 1e-3);
    if (options.csv) {
      out().print("{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}\n", timing.tokens, engine.threads(),
                  isa_name(isa), kBuildType, timing.total.size(), f.p50, f.p99, f.least, f.tokenize, f.forward, f.task);
    }
  }
}

void refuse_task(const ModelFile& file, const BenchOptions& options) {
  const TaskKind task = file.model().task();
  const uint32_t parts = traits(task).parts;
  if (!file.model().has_tokenizer()) {
    fail(ExitCode::kInvalid, "{}: --text needs a tokenizer, and the file holds none; use --seq", file.path());
  }
  if ((parts & ~uint32_t{kChoicePart}) == 0) {
    fail(ExitCode::kUnsupported, "{}: --text does not measure the task \"{}\"; use --seq", file.path(),
         task_name(task));
  }
  if (convert::needs_second(parts) && !options.pair) {
    fail(ExitCode::kUsage, "--pair: the task \"{}\" needs a second text", task_name(task));
  }
}

}  // namespace

void bench_texts(const ModelFile& file, const BenchOptions& options) {
  refuse_task(file, options);
  std::vector<TextTiming> timings = read_texts(options);
  size_t most_bytes = 0;
  for (const TextTiming& timing : timings) most_bytes = std::max(most_bytes, timing.text.size());
  Engine engine(file, options.engine);
  TextRunner runner(engine, options, most_bytes);
  for (uint32_t i = 0; i < std::max(options.warmup, 1u); ++i) {
    for (TextTiming& timing : timings) runner.run(&timing, false);
  }
  const Clock::time_point begin = Clock::now();
  for (TextTiming& timing : timings) runner.run(&timing, false);
  const double pass = microseconds_between(begin, Clock::now()) * 1e-3;
  const uint32_t repetitions = options.repetitions != 0 ? options.repetitions : choose_repetitions(pass);
  // Texts take turns: no text finds the caches and branch predictors as its own last run left them.
  std::optional<probe::CostMeter> meter;
  if (options.cost) meter.emplace();
  for (uint32_t i = 0; i < repetitions; ++i) {
    for (TextTiming& timing : timings) runner.run(&timing, true);
  }
  std::optional<probe::Cost> cost;
  if (meter) cost = meter->take(static_cast<double>(repetitions) * static_cast<double>(timings.size()));
  print_texts(engine, options, timings, cost, engine.session().isa());
}

}  // namespace bantam::cli
