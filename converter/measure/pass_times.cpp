#include "measure/pass_times.h"

#include <algorithm>
#include <cstdio>
#include <string>

#if defined(__linux__)
#include <unistd.h>
#endif

#include "base/status_error.h"
#include "graph/task_parts.h"
#include "model/task_traits.h"
#include "run/passes.h"

namespace bantam::convert {

double milliseconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

TimeSpread spread_of(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  TimeSpread spread;
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

/// Sequences of random ids, the same in every run of the command.
struct RandomBatch {
  std::vector<int32_t> ids;
  std::vector<int32_t> marks;   // for models that read them
  std::vector<float> features;  // for models that read them
  std::vector<uint32_t> offsets = {0};

  RandomBatch(const Model& model, const std::vector<uint32_t>& lengths) {
    const uint32_t of_sources = model.source_vocabulary();
    const uint32_t vocabulary = of_sources != 0 ? of_sources : model.vocabulary();
    for (const uint32_t length : lengths) offsets.push_back(offsets.back() + length);
    ids = random_ids(vocabulary, offsets.back());
    constexpr uint32_t kSteps = 1U << 12;  // steps from -1 to 1
    for (const int32_t number : random_ids(kSteps, offsets.back() * features_of(model))) {
      features.push_back(2 * static_cast<float>(number) / kSteps - 1);
    }
    for (const uint32_t length : lengths) {
      for (uint32_t i = 0; model.mark_types() > 1 && i < length; ++i) marks.push_back(mark(model, i, length));
    }
  }

  /// Returns the number of features per token; 0 for models with chunks, for which nothing is retrieved.
  static uint32_t features_of(const Model& model) { return model.chunk_tokens() != 0 ? 0 : model.feature_width(); }

  /// Returns the mark of token i. For models that find spans: marks of labels in the first quarter, then marks of words
  /// on three of four tokens. For others: a mark on every eighth token.
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
  const Status status = run_all_passes(session, batch);
  const double spent = milliseconds_between(start, Clock::now());
  check(status, path);
  return spent;
}

void time_operators(Engine& engine, const Batch& batch, BatchTiming* timing) {
  timing->peaks = probe::measure_peaks(engine.session().isa());
  const uint32_t passes = std::min(timing->repetitions, 200u);
  check(probe::time_ops(engine.session(), batch, engine.threads(), passes, run_all_passes, &timing->ops),
        engine.file().path());
  // A core's speed depends on the load of the other cores, so the reference is the higher peak of before and after.
  timing->peaks = probe::larger(timing->peaks, probe::measure_peaks(engine.session().isa()));
}

}  // namespace

BatchTiming time_batch(const ModelFile& file, const TimeOptions& options, const std::vector<uint32_t>& lengths) {
  BatchTiming timing;
  timing.lengths = lengths;
  const RandomBatch data(file.model(), lengths);
  const Batch batch = data.view();
  EngineOptions engine_options = options.engine;
  engine_options.batch = batch.sequences;
  engine_options.max_tokens = engine_options.max_source = batch.tokens;
  const Clock::time_point start = Clock::now();
  Engine engine(file, engine_options);
  timing.start.create = milliseconds_between(start, Clock::now());
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

}  // namespace bantam::convert
