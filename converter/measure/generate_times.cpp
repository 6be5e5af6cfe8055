#include "measure/generate_times.h"

#include <algorithm>
#include <vector>

#include "bantam/beams.h"
#include "bantam/generation.h"
#include "bantam/sampling.h"
#include "base/status_error.h"
#include "probe/limits.h"

namespace bantam::convert {
namespace {

/// Times of many calls, in milliseconds.
struct Samples {
  std::vector<double> all, first, next;  // whole calls; until the first token; each other token
};

class GenerateBench {
 public:
  GenerateBench(const ModelFile& file, const TimeOptions& options, const GenerateWork& work)
      : file_(file),
        options_(options),
        work_(work),
        pair_(file.model().source_vocabulary() != 0),
        engine_(file, engine_options()) {
    const uint32_t vocabulary = pair_ ? file.model().source_vocabulary() : file.model().vocabulary();
    given_ = random_ids(vocabulary, work_.prompt);
    prompt_ = given_;
    if (!pair_) return;
    Generation way;
    if (generation_count(file.model()) != 0) check(generation(file.model(), 0, &way), file.path());
    prompt_ = {std::max(way.start_id, 0)};
  }

  Samples run() {
    Samples timing;
    Samples warm;
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
    engine.batch = work_.beams;
    engine.max_context = (pair_ ? 1 : work_.prompt) + work_.generate;
    if (pair_) engine.max_source = work_.prompt;
    return engine;
  }

  Batch batch_of(const int32_t* ids, size_t count) const {
    Batch batch;
    batch.ids = ids;
    batch.tokens = static_cast<uint32_t>(count);
    batch.last_rows = batch.listed = true;
    return batch;
  }

  void once(Samples* timing) {
    const Clock::time_point begin = Clock::now();
    if (pair_) {
      Batch source = batch_of(given_.data(), given_.size());
      source.last_rows = false;
      check(engine_.session().encode(source), file_.path());
    }
    const Clock::time_point first = work_.beams > 1 ? search() : go_on();
    const Clock::time_point end = Clock::now();
    timing->all.push_back(milliseconds_between(begin, end));
    timing->first.push_back(milliseconds_between(begin, first));
    if (work_.generate > 1) timing->next.push_back(milliseconds_between(first, end) / (work_.generate - 1));
  }

  /// Greedy decoding that ignores end tokens. Returns the time at which the first token was known.
  Clock::time_point go_on() {
    Session& session = engine_.session();
    check(session.truncate(0, 0), file_.path());
    for (size_t at = 0; at < prompt_.size(); at += session.max_tokens()) {
      check(session.run(batch_of(prompt_.data() + at, std::min<size_t>(session.max_tokens(), prompt_.size() - at))),
            file_.path());
    }
    Clock::time_point first;
    for (uint32_t made = 0; made < work_.generate; ++made) {
      NextToken next;
      check(next_token(session, 0, {}, &next), file_.path());
      if (made == 0) first = Clock::now();
      if (made + 1 == work_.generate) break;
      check(session.run(batch_of(&next.id, 1)), file_.path());
    }
    return first;
  }

  /// Beam search in which no beam ends before all tokens are generated. Returns the time at which the first token was
  /// known.
  Clock::time_point search() {
    BeamOptions beams;
    beams.beams = work_.beams;
    beams.max_new = beams.min_new = work_.generate;
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
  const TimeOptions& options_;
  const GenerateWork& work_;
  const bool pair_;
  Engine engine_;
  std::vector<int32_t> given_, prompt_;
  std::vector<uint64_t> memory_;
};

}  // namespace

GenerateTiming time_generating(const ModelFile& file, const TimeOptions& options, const GenerateWork& work) {
  GenerateBench bench(file, options, work);
  Samples samples = bench.run();
  GenerateTiming timing;
  timing.calls = static_cast<uint32_t>(samples.all.size());
  timing.all = spread_of(std::move(samples.all));
  timing.first = spread_of(std::move(samples.first));
  if (!samples.next.empty()) timing.next = spread_of(std::move(samples.next));
  timing.threads = bench.engine().threads();
  timing.isa = bench.engine().session().isa();
  timing.arena = bench.engine().arena_bytes();
  return timing;
}

double read_rate(Isa isa, uint64_t bytes) {
  constexpr size_t kWhole = 8192, kAlign = 64;
  const size_t size = std::max(static_cast<size_t>(bytes) / kWhole * kWhole, kWhole);
  std::vector<uint8_t> copy(size + kAlign, 1);
  const auto begin = reinterpret_cast<uintptr_t>(copy.data());  // NOLINT(performance-no-int-to-ptr)
  const size_t skip = (kAlign - begin % kAlign) % kAlign;
  return probe::measure_load_bandwidth(isa, copy.data() + skip, size);
}

}  // namespace bantam::convert
