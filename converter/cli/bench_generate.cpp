// bench --prompt: how long a text of random ids takes to generate, behind a prompt or from a source, greedily or by beams.
#include <algorithm>
#include <chrono>

#include "bantam/beams.h"
#include "bantam/generation.h"
#include "bantam/sampling.h"
#include "cli/answer/decoder.h"
#include "cli/bench.h"
#include "cli/frame/build_info.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "probe/limits.h"
#include "probe/step_bytes.h"

namespace bantam::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Milliseconds of many calls.
struct GenerateTiming {
  std::vector<double> all, first, next;  // whole calls; up to the first token; a token of the others
};

class GenerateBench {
 public:
  GenerateBench(const ModelFile& file, const BenchOptions& options)
      : file_(file), options_(options), pair_(file.model().source_vocabulary() != 0), engine_(file, engine_options()) {
    const uint32_t vocabulary = pair_ ? file.model().source_vocabulary() : file.model().vocabulary();
    given_ = random_ids(vocabulary, options.prompt);
    prompt_ = given_;
    if (!pair_) return;
    Generation way;
    if (generation_count(file.model()) != 0) check(generation(file.model(), 0, &way), file.path());
    prompt_ = {std::max(way.start_id, 0)};
  }

  GenerateTiming run() {
    GenerateTiming timing;
    GenerateTiming warm;
    for (uint32_t i = 0; i < std::max(options_.warmup, 1u); ++i) once(&warm);
    const double last = warm.all.back();
    const uint32_t usual = static_cast<uint32_t>(std::clamp(2000.0 / std::max(last, 1e-3), 5.0, 500.0));
    const uint32_t count = options_.repetitions != 0 ? options_.repetitions : usual;
    for (uint32_t i = 0; i < count; ++i) once(&timing);
    return timing;
  }

  Engine& engine() { return engine_; }

 private:
  EngineOptions engine_options() const {
    EngineOptions engine = options_.engine;
    engine.batch = options_.beams;
    engine.max_context = (pair_ ? 1 : options_.prompt) + options_.generate;
    if (pair_) engine.max_source = options_.prompt;
    return engine;
  }

  Batch batch_of(const int32_t* ids, size_t count) const {
    Batch batch;
    batch.ids = ids;
    batch.tokens = static_cast<uint32_t>(count);
    batch.last_rows = batch.listed = true;
    return batch;
  }

  void once(GenerateTiming* timing) {
    const Clock::time_point begin = Clock::now();
    if (pair_) {
      Batch source = batch_of(given_.data(), given_.size());
      source.last_rows = false;
      check(engine_.session().encode(source), file_.path());
    }
    const Clock::time_point first = options_.beams > 1 ? search() : go_on();
    const Clock::time_point end = Clock::now();
    const auto between = [](Clock::time_point from, Clock::time_point to) {
      return std::chrono::duration<double, std::milli>(to - from).count();
    };
    timing->all.push_back(between(begin, end));
    timing->first.push_back(between(begin, first));
    if (options_.generate > 1) timing->next.push_back(between(first, end) / (options_.generate - 1));
  }

  /// The likeliest token each time, whether it ends texts or not. Returns when there was a first one.
  Clock::time_point go_on() {
    Session& session = engine_.session();
    check(session.truncate(0, 0), file_.path());
    for (size_t at = 0; at < prompt_.size(); at += session.max_tokens()) {
      check(session.run(batch_of(prompt_.data() + at, std::min<size_t>(session.max_tokens(), prompt_.size() - at))),
            file_.path());
    }
    Clock::time_point first;
    for (uint32_t made = 0; made < options_.generate; ++made) {
      NextToken next;
      check(next_token(session, 0, {}, &next), file_.path());
      if (made == 0) first = Clock::now();
      if (made + 1 == options_.generate) break;
      check(session.run(batch_of(&next.id, 1)), file_.path());
    }
    return first;
  }

  /// Beams of which none ends before all tokens are there.
  Clock::time_point search() {
    BeamOptions beams;
    beams.beams = options_.beams;
    beams.max_new = beams.min_new = options_.generate;
    memory_.resize(BeamSearch::bytes(engine_.session(), beams) / sizeof(uint64_t));
    BeamSearch search;
    check(search.begin(&engine_.session(), beams, prompt_.data(), static_cast<uint32_t>(prompt_.size()), 0,
                       memory_.data(), memory_.size() * sizeof(uint64_t)),
          file_.path());
    bool done = false;
    check(search.step(&done), file_.path());
    const Clock::time_point first = Clock::now();
    while (!done) check(search.step(&done), file_.path());
    return first;
  }

  const ModelFile& file_;
  const BenchOptions& options_;
  const bool pair_;
  Engine engine_;
  std::vector<int32_t> given_, prompt_;
  std::vector<uint64_t> memory_;
};

/// Bytes a second that one core reads of as many as a step does: of a copy, so that nothing else is in its way.
double read_rate(Engine& engine, uint64_t bytes) {
  constexpr size_t kWhole = 8192, kAlign = 64;
  const size_t size = std::max(static_cast<size_t>(bytes) / kWhole * kWhole, kWhole);
  std::vector<uint8_t> copy(size + kAlign, 1);
  const auto begin = reinterpret_cast<uintptr_t>(copy.data());  // NOLINT(performance-no-int-to-ptr)
  const size_t skip = (kAlign - begin % kAlign) % kAlign;
  return probe::measure_load_bandwidth(engine.session().isa(), copy.data() + skip, size);
}

void require_room(const ModelFile& file, const BenchOptions& options) {
  const Model& model = file.model();
  const bool pair = model.source_vocabulary() != 0;
  const auto require = [&](const char* what, uint32_t asked, uint32_t most) {
    if (most == 0 || asked <= most) return;
    fail(ExitCode::kInvalid, "{}: {} tokens are asked for, the model takes at most {}", what, asked, most);
  };
  if (pair) require("--prompt", options.prompt, model.max_source());
  require(pair ? "--generate" : "--prompt and --generate", (pair ? 1 : options.prompt) + options.generate,
          model.max_sequence());
}

}  // namespace

void bench_generating(const ModelFile& file, const BenchOptions& options) {
  require_generating(file);
  require_contexts(file);
  require_room(file, options);
  GenerateBench bench(file, options);
  const GenerateTiming timing = bench.run();
  const Spread all = spread_of(timing.all), first = spread_of(timing.first);
  if (options.plain) return out().print("{:.4f}\n", all.p50);
  const Spread next = timing.next.empty() ? Spread() : spread_of(timing.next);
  const uint64_t bytes = probe::step_bytes(file.model());
  const double rate = timing.next.empty() ? 0 : read_rate(bench.engine(), bytes);
  const double limit = rate > 0 ? static_cast<double>(bytes) / rate * 1e3 : 0;
  if (options.json) {
    Json object = json_object("bench");
    object["file"] = file.path();
    object["tokens"] = options.prompt;
    put_setting(options, bench.engine().threads(), bench.engine().session().isa(), timing.all.size(), &object);
    put_milliseconds(all, &object);
    object["arena_bytes"] = bench.engine().arena_bytes();
    Json made = {{"tokens", options.generate},
                 {"beams", options.beams},
                 {"first_ms", static_cast<float>(first.p50)},
                 {"weight_bytes", bytes}};
    if (!timing.next.empty()) made["token_ms"] = static_cast<float>(next.p50);
    if (limit > 0) made["read_ms"] = static_cast<float>(limit);
    object["generate"] = made;
    return out().line(object);
  }
  out().print("{}: {}, {} build, {} tokens in, {} out, {}, {} thread{}\n", file.path(),
              isa_name(bench.engine().session().isa()), kBuildType, options.prompt, options.generate,
              options.beams > 1 ? fmt::format("{} beams", options.beams) : "greedy", bench.engine().threads(),
              bench.engine().threads() == 1 ? "" : "s");
  out().print("first token  {:.3f} ms  ({:.0f} tokens in a second)\n", first.p50, options.prompt / first.p50 * 1e3);
  if (timing.next.empty()) return;
  out().print("each other   {:.3f} ms  ({:.0f} tokens a second)\n", next.p50, 1e3 / next.p50);
  out().print("a whole call {:.3f} ms, at least {:.3f}; {} calls, arena {}\n", all.p50, all.least, timing.all.size(),
              readable_bytes(bench.engine().arena_bytes()));
  if (limit <= 0) return;
  out().print("a token reads {} of weights, which takes one core {:.3f} ms at {:.1f} GB/s: {:.2f} times as long\n",
              readable_bytes(bytes), limit, rate * 1e-9, next.p50 / limit);
}

}  // namespace bantam::cli
