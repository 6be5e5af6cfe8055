// bench: latency of forward passes over random ids.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "cli/bench_ops.h"
#include "cli/build_info.h"
#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/errors.h"
#include "cli/output.h"

namespace bantam::cli {
namespace {

struct BenchOptions {
  std::string model;
  std::vector<uint32_t> seq;
  EngineOptions engine;
  uint32_t repetitions = 0;
  uint32_t warmup = 3;
  bool per_op = false;
  bool json = false;
  bool csv = false;
  bool plain = false;
};

struct Timing {
  uint32_t seq = 0;
  uint32_t repetitions = 0;
  double p50 = 0, p99 = 0, least = 0, mean = 0;  // milliseconds of one forward pass
  size_t arena = 0;
  std::vector<OpTiming> ops;
};

/// `batch` sequences of `seq` random ids each; the same on every run of the command.
struct RandomBatch {
  std::vector<int32_t> ids;
  std::vector<uint32_t> offsets;

  RandomBatch(uint32_t vocabulary, uint32_t batch, uint32_t seq) {
    uint64_t state = 0x9E3779B97F4A7C15u + seq;
    for (uint64_t i = 0; i < uint64_t{batch} * seq; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      ids.push_back(static_cast<int32_t>((state >> 33) % vocabulary));
    }
    for (uint32_t s = 0; s <= batch; ++s) offsets.push_back(s * seq);
  }

  Batch view() const {
    Batch batch;
    batch.ids = ids.data();
    batch.offsets = offsets.data();
    batch.sequences = static_cast<uint32_t>(offsets.size() - 1);
    batch.tokens = static_cast<uint32_t>(ids.size());
    return batch;
  }
};

using Clock = std::chrono::steady_clock;

double run_once(Session& session, const Batch& batch, const std::string& path) {
  const Clock::time_point start = Clock::now();
  const Status status = session.run(batch);
  const double spent = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  check(status, path);
  return spent;
}

/// Enough runs for a steady median: about a second of them, at least 20.
uint32_t choose_repetitions(double milliseconds) {
  return static_cast<uint32_t>(std::clamp(1000.0 / std::max(milliseconds, 1e-3), 20.0, 2000.0));
}

Timing measure(const ModelFile& file, const BenchOptions& options, uint32_t seq) {
  EngineOptions engine_options = options.engine;
  engine_options.max_tokens = options.engine.batch * seq;
  Engine engine(file, engine_options);
  const RandomBatch data(file.model().vocabulary(), options.engine.batch, seq);
  const Batch batch = data.view();
  double last = 0;
  for (uint32_t i = 0; i < std::max(options.warmup, 1u); ++i) last = run_once(engine.session(), batch, file.path());
  Timing timing;
  timing.seq = seq;
  timing.repetitions = options.repetitions != 0 ? options.repetitions : choose_repetitions(last);
  timing.arena = engine.arena_bytes();
  std::vector<double> times;
  for (uint32_t i = 0; i < timing.repetitions; ++i) times.push_back(run_once(engine.session(), batch, file.path()));
  std::sort(times.begin(), times.end());
  timing.least = times.front();
  timing.p50 = times[times.size() / 2];
  timing.p99 = times[std::min(times.size() - 1, times.size() * 99 / 100)];
  for (const double time : times) timing.mean += time / static_cast<double>(times.size());
  if (options.per_op) timing.ops = time_ops(engine, batch, std::min(timing.repetitions, 200u));
  return timing;
}

void print_json(const ModelFile& file, const BenchOptions& options, const Timing& timing, Isa isa) {
  Json object = json_object("bench");
  object["file"] = file.path();
  object["seq"] = timing.seq;
  object["batch"] = options.engine.batch;
  object["threads"] = options.engine.threads;
  object["isa"] = isa_name(isa);
  object["build"] = kBuildType;
  object["compiler"] = kCompiler;
  object["repetitions"] = timing.repetitions;
  object["p50_ms"] = static_cast<float>(timing.p50);
  object["p99_ms"] = static_cast<float>(timing.p99);
  object["min_ms"] = static_cast<float>(timing.least);
  object["mean_ms"] = static_cast<float>(timing.mean);
  object["arena_bytes"] = timing.arena;
  if (options.per_op) {
    object["ops"] = Json::array();
    for (const OpTiming& op : timing.ops) {
      object["ops"].push_back({{"name", op.name},
                               {"kind", op.kind},
                               {"ms", static_cast<float>(op.milliseconds)},
                               {"share", static_cast<float>(op.share)},
                               {"macs", op.macs},
                               {"gmac_per_s", static_cast<float>(op.gmacs_per_second())}});
    }
  }
  out().line(object);
}

void print_ops(const Timing& timing) {
  std::vector<std::vector<std::string>> rows = {{"op", "kind", "ms", "share %", "GMAC/s"}};
  for (const OpTiming& op : timing.ops) {
    rows.push_back({op.name, op.kind, fmt::format("{:.4f}", op.milliseconds), fmt::format("{:.1f}", op.share * 100),
                    op.macs == 0 ? "" : fmt::format("{:.1f}", op.gmacs_per_second())});
  }
  out().print("\n{} tokens, by op\n", timing.seq);
  print_table(rows);
}

void print_all(const ModelFile& file, const BenchOptions& options, const std::vector<Timing>& timings, Isa isa) {
  if (options.plain) {
    for (const Timing& timing : timings) out().print("{:.4f}\n", timing.p50);
    return;
  }
  if (options.json) {
    for (const Timing& timing : timings) print_json(file, options, timing, isa);
    return;
  }
  if (options.csv) {
    out().write("seq,batch,threads,isa,build,repetitions,p50_ms,p99_ms,min_ms,mean_ms,arena_bytes\n");
    for (const Timing& t : timings) {
      out().print("{},{},{},{},{},{},{:.5f},{:.5f},{:.5f},{:.5f},{}\n", t.seq, options.engine.batch,
                  options.engine.threads, isa_name(isa), kBuildType, t.repetitions, t.p50, t.p99, t.least, t.mean,
                  t.arena);
    }
    return;
  }
  out().print("{}: {}, {} build, batch {}, {} thread{}\n", file.path(), isa_name(isa), kBuildType, options.engine.batch,
              options.engine.threads, options.engine.threads == 1 ? "" : "s");
  std::vector<std::vector<std::string>> rows = {{"tokens", "p50 ms", "p99 ms", "min ms", "tokens/s", "arena", "runs"}};
  for (const Timing& t : timings) {
    const double tokens = static_cast<double>(t.seq) * options.engine.batch;
    rows.push_back({fmt::format("{}", t.seq), fmt::format("{:.3f}", t.p50), fmt::format("{:.3f}", t.p99),
                    fmt::format("{:.3f}", t.least), fmt::format("{:.0f}", tokens / t.p50 * 1000), human_bytes(t.arena),
                    fmt::format("{}", t.repetitions)});
  }
  print_table(rows);
  for (const Timing& timing : timings) {
    if (!timing.ops.empty()) print_ops(timing);
  }
}

/// 16 and 128 tokens, or what the model takes.
std::vector<uint32_t> default_lengths(uint32_t longest) {
  if (longest == 0 || longest >= 128) return {16, 128};
  if (longest > 16) return {16, longest};
  return {longest};
}

void run_bench(const BenchOptions& options) {
  if (options.json + options.csv + options.plain > 1) fail(ExitCode::kUsage, "--json, --csv, --plain: choose one");
  const ModelFile file(options.model);
  if (file.model().vocabulary() == 0) fail(ExitCode::kUnsupported, "{}: the model takes no token ids", options.model);
  const uint32_t longest = file.model().max_sequence();
  const std::vector<uint32_t> lengths = options.seq.empty() ? default_lengths(longest) : options.seq;
  for (const uint32_t seq : lengths) {
    if (seq == 0) fail(ExitCode::kUsage, "--seq: 0 tokens cannot be run; use 1 or more");
    if (longest != 0 && seq > longest) {
      fail(ExitCode::kInvalid, "--seq {}: the model takes at most {} tokens; leave that length out", seq, longest);
    }
  }
  EngineOptions probe = options.engine;
  probe.max_tokens = probe.batch;
  const Isa isa = Engine(file, probe).session().isa();
  std::vector<Timing> timings;
  timings.reserve(lengths.size());
  for (const uint32_t seq : lengths) timings.push_back(measure(file, options, seq));
  print_all(file, options, timings, isa);
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Measure the latency of a file");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("FILE", options->model, "A .bantam file")->required();
  command
      ->add_option("--seq", options->seq,
                   "Tokens of a sequence, such as 16,128 (the default, or less where the model takes less)")
      ->delimiter(',');
  command->add_option("--batch", options->engine.batch, "Sequences of one forward pass")->check(CLI::Range(1, 4096));
  add_engine_options(*command, &options->engine);
  command->add_option("--repetitions", options->repetitions, "Measured runs (default: about a second of them)");
  command->add_option("--warmup", options->warmup, "Runs before measuring")->capture_default_str();
  command->add_flag("--per-op", options->per_op, "Time, share and MAC/s of every operator");
  command->add_flag("--json", options->json, "Print one JSON object a length");
  command->add_flag("--csv", options->csv, "Print comma-separated values");
  command->add_flag("--plain", options->plain, "Print the median milliseconds of each length and nothing else");
  command->footer(
      "Examples:\n"
      "  bantam bench minilm.bantam --seq 16,128 --threads 1\n"
      "  bantam bench minilm.bantam --seq 128 --per-op\n"
      "  bantam bench minilm.bantam --seq 16 --threads 1 --plain");
  command->callback([options] { run_bench(*options); });
}

}  // namespace bantam::cli
