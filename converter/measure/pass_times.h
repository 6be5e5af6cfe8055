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

/// How work is measured.
struct TimeOptions {
  EngineOptions engine;
  uint32_t repetitions = 0;  // 0: about a second of them
  uint32_t warmup = 3;
  bool per_op = false;
  bool cost = false;
};

/// Order statistics of a sample, in the sample's unit.
struct TimeSpread {
  double least = 0, p50 = 0, p99 = 0, mean = 0;
};
TimeSpread spread_of(std::vector<double> sample);  // not empty

/// Ids of [0, vocabulary), the same for the same numbers.
std::vector<int32_t> random_ids(uint32_t vocabulary, uint32_t count);

/// Enough runs of `milliseconds` each for a steady median: about a second of them, at least 20.
uint32_t choose_repetitions(double milliseconds);

/// The resident bytes of this process; none where the system does not report them.
std::optional<uint64_t> resident_bytes();

/// Start times in milliseconds, and memory in bytes, of the whole process.
struct StartTimes {
  double open = 0;                 // map the file, Model::open
  double create = 0;               // threads, arena, Session::create
  std::optional<uint64_t> memory;  // more resident than before the file was opened, after the runs; unknown: none
};

/// The timing of forward passes over random ids: one batch.
struct BatchTiming {
  std::vector<uint32_t> lengths;  // tokens of each sequence
  uint32_t tokens = 0;            // of all
  uint32_t repetitions = 0;
  TimeSpread ms;
  StartTimes start;
  size_t arena = 0;
  uint32_t threads = 1;
  uint64_t int8_macs = 0, f32_macs = 0;  // of one pass
  std::optional<probe::Cost> cost;       // with --cost, of a sequence
  probe::Peaks peaks;                    // with --per-op
  std::vector<probe::OpTime> ops;        // with --per-op

  uint32_t longest() const;
  /// Milliseconds of a pass if all threads did nothing but multiply at their peak; 0: not measured.
  double limit() const;
};

/// Times forward passes over one batch of random ids, sequences of these lengths, which the model takes. Throws Error
/// when the model cannot run them.
BatchTiming time_batch(const ModelFile& file, const TimeOptions& options, const std::vector<uint32_t>& lengths);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_MEASURE_PASS_TIMES_H_
