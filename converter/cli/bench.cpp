// bench: the command's options, and latency of forward passes over random ids.
#include "cli/bench.h"

#include <algorithm>
#include <memory>

#include "bantam/beams.h"
#include "cli/answer/engine.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"

namespace bantam::cli {

using convert::StartTimes;

namespace {

/// Returns 16 and 128 tokens, or what the model allows.
std::vector<uint32_t> default_lengths(uint32_t longest) {
  if (longest == 0 || longest >= 128) return {16, 128};
  if (longest > 16) return {16, longest};
  return {longest};
}

/// Returns the batches to run: one for each length, or only the mix.
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
  for (const uint32_t length : lengths) batches.emplace_back(options.time.engine.batch, length);
  return batches;
}

void bench_ids(const ModelFile& file, const BenchOptions& options, const StartTimes& before) {
  if (file.model().vocabulary() == 0) fail(ExitCode::kUnsupported, "{}: the model takes no token ids", options.model);
  const std::vector<std::vector<uint32_t>> batches = choose_batches(options, file.model().max_sequence());
  convert::EngineOptions smallest = options.time.engine;
  smallest.max_tokens = smallest.batch;
  const Isa isa = convert::Engine(file, smallest).session().isa();
  std::vector<BatchTiming> timings;
  timings.reserve(batches.size());
  Progress progress;
  for (const std::vector<uint32_t>& lengths : batches) {
    progress.count("lengths", timings.size(), batches.size());
    timings.push_back(convert::time_batch(file, options.time, lengths));
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
  if (options.time.cost && (options.csv || options.plain || options.work.prompt != 0)) {
    fail(ExitCode::kUsage, "--cost: of texts, as a table or --json; leave out --csv, --plain and --prompt");
  }
  if (!options.mix.empty() && (!options.seq.empty() || options.time.engine.batch != 1)) {
    fail(ExitCode::kUsage, "--mix: names every sequence of the batch; leave out --seq and --batch");
  }
  if (texts &&
      (!options.seq.empty() || !options.mix.empty() || options.time.engine.batch != 1 || options.time.per_op)) {
    fail(ExitCode::kUsage, "--text, --texts: one text at a time; leave out --seq, --mix, --batch and --per-op");
  }
  if (options.pair && !texts) fail(ExitCode::kUsage, "--pair: goes with --text or --texts");
  const bool other = texts || !options.seq.empty() || !options.mix.empty() || options.time.engine.batch != 1;
  if (options.work.prompt != 0 && (other || options.time.per_op || options.csv)) {
    fail(ExitCode::kUsage,
         "--prompt: one text at a time is generated; leave out --seq, --mix, --batch, --text, --per-op "
         "and --csv");
  }
  StartTimes start;
  start.memory = convert::resident_bytes();
  const convert::Clock::time_point begin = convert::Clock::now();
  const ModelFile file(options.model);
  start.open = convert::milliseconds_between(begin, convert::Clock::now());
  if (options.work.prompt != 0) return bench_generating(file, options);
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
  command.add_option("--batch", options->time.engine.batch, "N", "Sequences per forward pass", between(1, 4096));
  command
      .add_option("--mix", options->mix, "N,...",
                  "Run one batch of sequences with these lengths, such as 9,31,77, without padding")
      .separated_by(',');
  command.add_texts("--text", &options->texts,
                    "Measure from this text to its answer, tokenizer included; may be given several times");
  command.add_option("--texts", options->texts_file, "FILE",
                     "Like --text, for every line of a file (-: standard input)");
  command.add_text("--pair", &options->pair, "Second text for each text, such as the context of questions");
  command.add_option("--prompt", options->work.prompt, "N",
                     "Generate after a prompt of N tokens, or (encoder-decoders) from a source of N tokens",
                     between(1, 1 << 20));
  command.add_option("--generate", options->work.generate, "N",
                     "With --prompt: number of tokens to generate (default 16)", between(1, 1 << 20));
  command.add_option("--beam", options->work.beams, "N",
                     "With --prompt: number of beams (default 1: the likeliest token each time)",
                     between(1U, kMostBeams));
  add_engine_options(command, &options->time.engine);
  command.add_option("--repetitions", options->time.repetitions, "N",
                     "Number of measured runs (default: about a second of runs)");
  command.add_option("--warmup", options->time.warmup, "N",
                     fmt::format("Warm-up runs before measuring (default {})", options->time.warmup));
  command.add_flag(
      "--per-op", options->time.per_op,
      "Print the time, share and fraction of the core's peak speed of every operator; the peak is measured");
  command.add_flag("--cost", options->time.cost,
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
