// bench --prompt: measures generation.
#include "bantam/session.h"
#include "cli/answer/decoder.h"
#include "cli/bench.h"
#include "cli/frame/build_info.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "probe/step_bytes.h"

namespace bantam::cli {
namespace {

void require_room(const ModelFile& file, const BenchOptions& options) {
  const Model& model = file.model();
  const bool pair = model.source_vocabulary() != 0;
  const auto require = [&](const char* what, uint32_t asked, uint32_t most) {
    if (most == 0 || asked <= most) return;
    fail(ExitCode::kInvalid, "{}: {} tokens are asked for, the model takes at most {}", what, asked, most);
  };
  if (pair) require("--prompt", options.work.prompt, model.max_source());
  require(pair ? "--generate" : "--prompt and --generate", (pair ? 1 : options.work.prompt) + options.work.generate,
          model.max_sequence());
}

}  // namespace

void bench_generating(const ModelFile& file, const BenchOptions& options) {
  require_generating(file);
  require_contexts(file);
  require_room(file, options);
  const convert::GenerateWork& work = options.work;
  const convert::GenerateTiming timing = convert::time_generating(file, options.time, work);
  const convert::TimeSpread &all = timing.all, &first = timing.first;
  if (options.plain) return out().print("{:.4f}\n", all.p50);
  const uint64_t bytes = probe::step_bytes(file.model());
  const double rate = timing.next ? convert::read_rate(timing.isa, bytes) : 0;
  const double limit = rate > 0 ? static_cast<double>(bytes) / rate * 1e3 : 0;
  if (options.json) {
    Json record = bench_record(file, options, {{"tokens", work.prompt}}, timing.threads, timing.isa, timing.calls);
    put_milliseconds(all, &record);
    record["arena_bytes"] = timing.arena;
    Json made = {{"tokens", work.generate}, {"beams", work.beams}, {"first_ms", first.p50}, {"weight_bytes", bytes}};
    if (timing.next) made["token_ms"] = timing.next->p50;
    if (limit > 0) made["read_ms"] = limit;
    record["generate"] = made;
    return out().line(record);
  }
  out().print("{}: {}, {} build, {} tokens in, {} out, {}, {}\n", file.path(), isa_name(timing.isa), kBuildType,
              work.prompt, work.generate, work.beams > 1 ? fmt::format("{} beams", work.beams) : "greedy",
              counted(timing.threads, "thread"));
  out().print("first token  {:.3f} ms  ({:.0f} tokens in a second)\n", first.p50, work.prompt / first.p50 * 1e3);
  if (!timing.next) return;
  const double next = timing.next->p50;
  out().print("each other   {:.3f} ms  ({:.0f} tokens a second)\n", next, 1e3 / next);
  out().print("a whole call {:.3f} ms, at least {:.3f}; {} calls, arena {}\n", all.p50, all.least, timing.calls,
              readable_bytes(timing.arena));
  if (limit <= 0) return;
  out().print("a token reads {} of weights, which takes one core {:.3f} ms at {:.1f} GB/s: {:.2f} times as long\n",
              readable_bytes(bytes), limit, rate * 1e-9, next / limit);
}

}  // namespace bantam::cli
