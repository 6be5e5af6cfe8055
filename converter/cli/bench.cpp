// bench: the command's options, and latency of forward passes over random ids.
#include "cli/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#if defined(__linux__)
#include <unistd.h>
#endif

#include "bantam/beams.h"
#include "cli/answer/text_options.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "model/task_traits.h"
#include "run/passes.h"

namespace bantam::cli {

Spread spread_of(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  Spread spread;
  spread.least = sample.front();
  spread.p50 = sample[sample.size() / 2];
  spread.p99 = sample[std::min(sample.size() - 1, sample.size() * 99 / 100)];
  for (const double value : sample) spread.mean += value / static_cast<double>(sample.size());
  return spread;
}

uint32_t choose_repetitions(double milliseconds) {
  return static_cast<uint32_t>(std::clamp(1000.0 / std::max(milliseconds, 1e-3), 20.0, 2000.0));
}

std::vector<int32_t> random_ids(uint32_t vocabulary, uint32_t count) {
  std::vector<int32_t> ids;
  uint64_t state = 0x9E3779B97F4A7C15u + count;
  for (uint32_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    ids.push_back(static_cast<int32_t>((state >> 33) % vocabulary));
  }
  return ids;
}

std::optional<uint64_t> resident_bytes() {
#if defined(__linux__)
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return std::nullopt;
  unsigned long long all = 0;
  unsigned long long resident = 0;
  const int read = std::fscanf(file, "%llu %llu", &all, &resident);  // NOLINT(cert-err34-c): the kernel's own numbers
  std::fclose(file);
  if (read == 2) return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
#endif
  return std::nullopt;
}

uint32_t BatchTiming::longest() const { return *std::max_element(lengths.begin(), lengths.end()); }

double BatchTiming::limit() const { return probe::limit_ms(peaks, int8_macs, f32_macs) / threads; }

namespace {

using Clock = std::chrono::steady_clock;

double elapsed_ms(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Sequences of random ids; the same on every run of the command.
struct RandomBatch {
  std::vector<int32_t> ids;
  std::vector<int32_t> marks;   // of models that take them
  std::vector<float> features;  // the same
  std::vector<uint32_t> offsets = {0};

  RandomBatch(const Model& model, const std::vector<uint32_t>& lengths) {
    const uint32_t of_sources = model.source_vocabulary();
    const uint32_t vocabulary = of_sources != 0 ? of_sources : model.vocabulary();
    for (const uint32_t length : lengths) offsets.push_back(offsets.back() + length);
    ids = random_ids(vocabulary, offsets.back());
    constexpr uint32_t kSteps = 1U << 12;  // from -1 to 1
    for (const int32_t number : random_ids(kSteps, offsets.back() * features_of(model))) {
      features.push_back(2 * static_cast<float>(number) / kSteps - 1);
    }
    for (const uint32_t length : lengths) {
      for (uint32_t i = 0; model.mark_types() > 1 && i < length; ++i) marks.push_back(mark(model, i, length));
    }
  }

  /// The number of features of a token; 0 for models with chunks, for which nothing is retrieved.
  static uint32_t features_of(const Model& model) { return model.chunk_tokens() != 0 ? 0 : model.feature_width(); }

  /// The mark of token i: labels in front, and behind them marks of words at three tokens in four; else a mark at every
  /// eighth token.
  static int32_t mark(const Model& model, uint32_t i, uint32_t length) {
    if (has_part(model.task(), kFoundPart)) return i < length / 4 ? static_cast<int32_t>(i % 2) : i % 4 == 0 ? 0 : 2;
    return i % 8 == 0 ? static_cast<int32_t>(1 + i % (model.mark_types() - 1)) : 0;
  }

  Batch view() const {
    Batch batch;
    batch.ids = ids.data();
    batch.marks = marks.empty() ? nullptr : marks.data();
    batch.features = features.empty() ? nullptr : features.data();
    batch.offsets = offsets.data();
    batch.sequences = static_cast<uint32_t>(offsets.size() - 1);
    batch.tokens = static_cast<uint32_t>(ids.size());
    return batch;
  }
};

double run_once(Session& session, const Batch& batch, const std::string& path) {
  const Clock::time_point start = Clock::now();
  const Status status = convert::run_all_passes(session, batch);
  const double spent = elapsed_ms(start);
  check(status, path);
  return spent;
}

void time_operators(Engine& engine, const Batch& batch, BatchTiming* timing) {
  timing->peaks = probe::measure_peaks(engine.session().isa());
  const uint32_t passes = std::min(timing->repetitions, 200u);
  check(probe::time_ops(engine.session(), batch, engine.threads(), passes, convert::run_all_passes, &timing->ops),
        engine.file().path());
  // A core's speed drifts with its neighbours': what the work is held against is the best that was seen around it.
  timing->peaks = probe::larger(timing->peaks, probe::measure_peaks(engine.session().isa()));
}

}  // namespace

BatchTiming time_batch(const ModelFile& file, const BenchOptions& options, const std::vector<uint32_t>& lengths) {
  BatchTiming timing;
  timing.lengths = lengths;
  const RandomBatch data(file.model(), lengths);
  const Batch batch = data.view();
  EngineOptions engine_options = options.engine;
  engine_options.batch = batch.sequences;
  engine_options.max_tokens = engine_options.max_source = batch.tokens;
  const Clock::time_point start = Clock::now();
  Engine engine(file, engine_options);
  timing.start.create = elapsed_ms(start);
  timing.tokens = batch.tokens;
  timing.threads = engine.threads();
  timing.arena = engine.arena_bytes();
  double last = 0;
  for (uint32_t i = 0; i < std::max(options.warmup, 1u); ++i) last = run_once(engine.session(), batch, file.path());
  timing.repetitions = options.repetitions != 0 ? options.repetitions : choose_repetitions(last);
  std::vector<double> times;
  std::optional<probe::CostMeter> meter;
  if (options.cost) meter.emplace();
  for (uint32_t i = 0; i < timing.repetitions; ++i) times.push_back(run_once(engine.session(), batch, file.path()));
  if (meter) timing.cost = meter->take(static_cast<double>(timing.repetitions) * batch.sequences);
  timing.ms = spread_of(std::move(times));
  timing.start.memory = resident_bytes();
  for (const probe::OpTime& op : probe::list_ops(file.model(), batch)) {
    timing.int8_macs += op.int8_macs();
    timing.f32_macs += op.f32_macs();
  }
  if (options.per_op) time_operators(engine, batch, &timing);
  return timing;
}

namespace {

/// 16 and 128 tokens, or what the model takes.
std::vector<uint32_t> default_lengths(uint32_t longest) {
  if (longest == 0 || longest >= 128) return {16, 128};
  if (longest > 16) return {16, longest};
  return {longest};
}

/// The batches to run: one for each length, or the mix alone.
std::vector<std::vector<uint32_t>> choose_batches(const BenchOptions& options, uint32_t longest) {
  const std::vector<uint32_t> lengths = options.seq.empty() ? default_lengths(longest) : options.seq;
  const char* option = options.mix.empty() ? "--seq" : "--mix";
  for (const uint32_t length : options.mix.empty() ? lengths : options.mix) {
    if (length == 0) fail(ExitCode::kUsage, "{}: 0 tokens cannot be run; use 1 or more", option);
    if (longest != 0 && length > longest) {
      fail(ExitCode::kInvalid, "{} {}: the model takes at most {} tokens; leave that length out", option, length,
           longest);
    }
  }
  if (!options.mix.empty()) return {options.mix};
  std::vector<std::vector<uint32_t>> batches;
  batches.reserve(lengths.size());
  for (const uint32_t length : lengths) batches.emplace_back(options.engine.batch, length);
  return batches;
}

void bench_ids(const ModelFile& file, const BenchOptions& options, const StartTimes& before) {
  if (file.model().vocabulary() == 0) fail(ExitCode::kUnsupported, "{}: the model takes no token ids", options.model);
  const std::vector<std::vector<uint32_t>> batches = choose_batches(options, file.model().max_sequence());
  EngineOptions smallest = options.engine;
  smallest.max_tokens = smallest.batch;
  const Isa isa = Engine(file, smallest).session().isa();
  std::vector<BatchTiming> timings;
  timings.reserve(batches.size());
  Progress progress;
  for (const std::vector<uint32_t>& lengths : batches) {
    progress.count("lengths", timings.size(), batches.size());
    timings.push_back(time_batch(file, options, lengths));
    StartTimes& start = timings.back().start;
    start.open = before.open;
    if (start.memory && before.memory) {
      start.memory = std::max(*start.memory, *before.memory) - *before.memory;
    } else {
      start.memory.reset();
    }
  }
  progress.clear();
  print_batches(file, options, timings, isa);
}

void run_bench(const BenchOptions& options) {
  if (options.json + options.csv + options.plain > 1) fail(ExitCode::kUsage, "--json, --csv, --plain: choose one");
  const bool texts = !options.texts.empty() || !options.texts_file.empty();
  if (options.cost && (options.csv || options.plain || options.prompt != 0)) {
    fail(ExitCode::kUsage, "--cost: of texts, as a table or --json; leave out --csv, --plain and --prompt");
  }
  if (!options.mix.empty() && (!options.seq.empty() || options.engine.batch != 1)) {
    fail(ExitCode::kUsage, "--mix: names every sequence of the batch; leave out --seq and --batch");
  }
  if (texts && (!options.seq.empty() || !options.mix.empty() || options.engine.batch != 1 || options.per_op)) {
    fail(ExitCode::kUsage, "--text, --texts: one text at a time; leave out --seq, --mix, --batch and --per-op");
  }
  if (options.pair && !texts) fail(ExitCode::kUsage, "--pair: goes with --text or --texts");
  const bool other = texts || !options.seq.empty() || !options.mix.empty() || options.engine.batch != 1;
  if (options.prompt != 0 && (other || options.per_op || options.csv)) {
    fail(ExitCode::kUsage,
         "--prompt: one text at a time is generated; leave out --seq, --mix, --batch, --text, --per-op "
         "and --csv");
  }
  StartTimes start;
  start.memory = resident_bytes();
  const Clock::time_point begin = Clock::now();
  const ModelFile file(options.model);
  start.open = elapsed_ms(begin);
  if (options.prompt != 0) return bench_generating(file, options);
  texts ? bench_texts(file, options) : bench_ids(file, options, start);
}

}  // namespace

void add_bench(Program& program) {
  Command& command = program.add_command("bench", "Measure the latency of a model", kExamineGroup);
  auto options = std::make_shared<BenchOptions>();
  command.add_option("FILE", options->model, "FILE.bantam", "A .bantam file").required();
  command
      .add_option("--seq", options->seq, "N,...",
                  "Sequence lengths in tokens, such as 16,128 (the default, or less if the model takes less)")
      .separated_by(',');
  command.add_option("--batch", options->engine.batch, "N", "Sequences per forward pass", between(1, 4096));
  command
      .add_option("--mix", options->mix, "N,...",
                  "Run one batch of sequences with these lengths, such as 9,31,77, without padding")
      .separated_by(',');
  command.add_texts("--text", &options->texts,
                    "Measure from this text to its answer, tokenizer included; may be given several times");
  command.add_option("--texts", options->texts_file, "FILE",
                     "Like --text, for every line of a file (-: standard input)");
  command.add_text("--pair", &options->pair, "Second text for each text, such as the context of questions");
  command.add_option("--prompt", options->prompt, "N",
                     "Generate after a prompt of N tokens, or (encoder-decoders) from a source of N tokens",
                     between(1, 1 << 20));
  command.add_option("--generate", options->generate, "N", "With --prompt: number of tokens to generate (default 16)",
                     between(1, 1 << 20));
  command.add_option("--beam", options->beams, "N",
                     "With --prompt: number of beams (default 1: the likeliest token each time)",
                     between(1U, kMostBeams));
  add_engine_options(command, &options->engine);
  command.add_option("--repetitions", options->repetitions, "N",
                     "Number of measured runs (default: about a second of runs)");
  command.add_option("--warmup", options->warmup, "N",
                     fmt::format("Warm-up runs before measuring (default {})", options->warmup));
  command.add_flag(
      "--per-op", options->per_op,
      "Print the time, share and fraction of the core's peak speed of every operator; the peak is measured");
  command.add_flag("--cost", options->cost,
                   "Print the cost of a text: processor time, texts per hour of one core, cycles, bytes of "
                   "weights, and joules if the system counts them");
  command.add_flag("--json", options->json, "Print one JSON object per length or text");
  command.add_flag("--csv", options->csv, "Print comma-separated values");
  command.add_flag("--plain", options->plain, "Print only the median milliseconds of each length or text");
  command.usual({"--seq", "--text", "--texts", "--prompt", "--generate", "--threads", "--per-op", "--json"});
  command.footer(
      "Examples:\n"
      "  bantam bench minilm.bantam --seq 16,128 --threads 1\n"
      "  bantam bench minilm.bantam --seq 128 --per-op\n"
      "  bantam bench minilm.bantam --texts lines.txt --cost\n"
      "  bantam bench minilm.bantam --mix 8,64,23,120 --threads 2\n"
      "  bantam bench voice.bantam --text \"play some jazz from the sixties\"\n"
      "  bantam bench stories.bantam --prompt 16 --generate 64\n"
      "  bantam bench minilm.bantam --seq 16 --threads 1 --plain");
  command.action([options] { run_bench(*options); });
}

}  // namespace bantam::cli
