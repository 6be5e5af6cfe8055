// Times of forward passes over random ids.
#ifndef BANTAM_CONVERTER_MEASURE_PASS_TIMES_H_
#define BANTAM_CONVERTER_MEASURE_PASS_TIMES_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "probe/cost.h"
#include "probe/op_times.h"
#include "run/engine.h"

namespace bantam::convert {

using Clock = std::chrono::steady_clock;

double milliseconds_between(Clock::time_point begin, Clock::time_point end);

/// How times are measured.
struct TimeOptions {
  EngineOptions engine;
  uint32_t repetitions = 0;  // 0: about one second's worth
  uint32_t warmup = 3;
  bool per_op = false;
  bool cost = false;
};

/// Order statistics of a sample, in the sample's unit.
struct TimeSpread {
  double least = 0, p50 = 0, p99 = 0, mean = 0;
};
TimeSpread spread_of(std::vector<double> sample);  // must not be empty

/// Returns ids in [0, vocabulary), the same for the same arguments.
std::vector<int32_t> random_ids(uint32_t vocabulary, uint32_t count);

/// Returns enough runs of `milliseconds` each for a stable median: about one second's worth, at least 20.
uint32_t choose_repetitions(double milliseconds);

/// Returns the resident bytes of this process; none if the system does not report them.
std::optional<uint64_t> resident_bytes();

/// Start-up times in milliseconds, and memory in bytes, of the whole process.
struct StartTimes {
  double open = 0;    // map the file, Model::open
  double create = 0;  // threads, arena, Session::create
  // Growth of resident memory from before the file was opened to after the runs; none: unknown.
  std::optional<uint64_t> memory;
};

/// Times of forward passes over one batch of random ids.
struct BatchTiming {
  std::vector<uint32_t> lengths;  // tokens of each sequence
  uint32_t tokens = 0;            // of all sequences
  uint32_t repetitions = 0;
  TimeSpread ms;
  StartTimes start;
  size_t arena = 0;
  uint32_t threads = 1;
  uint64_t int8_macs = 0, f32_macs = 0;  // per pass
  std::optional<probe::Cost> cost;       // with --cost: per sequence
  probe::Peaks peaks;                    // with --per-op
  std::vector<probe::OpTime> ops;        // with --per-op

  uint32_t longest() const;
  /// Returns the milliseconds of a pass if all threads only multiplied at their peak rate; 0: not measured.
  double limit() const;
};

/// Times forward passes over one batch of random ids, with sequences of these lengths, which the model must allow.
/// Throws Error if the model cannot run them.
BatchTiming time_batch(const ModelFile& file, const TimeOptions& options, const std::vector<uint32_t>& lengths);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_MEASURE_PASS_TIMES_H_
