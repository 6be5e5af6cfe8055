// Options and measurements that the parts of `bench` share.
#ifndef BANTAM_CONVERTER_CLI_BENCH_H_
#define BANTAM_CONVERTER_CLI_BENCH_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/answer/engine.h"
#include "cli/frame/output.h"
#include "probe/cost.h"
#include "probe/op_times.h"

namespace bantam::cli {

struct BenchOptions {
  std::string model;
  std::vector<uint32_t> seq;
  std::vector<uint32_t> mix;
  std::vector<std::string> texts;
  std::string texts_file;
  std::optional<std::string> pair;
  uint32_t prompt = 0;  // tokens; 0: nothing is generated
  uint32_t generate = 16;
  uint32_t beams = 1;
  EngineOptions engine;
  uint32_t repetitions = 0;  // 0: about a second of them
  uint32_t warmup = 3;
  bool per_op = false;
  bool cost = false;
  bool json = false;
  bool csv = false;
  bool plain = false;
};

/// Order statistics of a sample, in the sample's unit.
struct Spread {
  double least = 0, p50 = 0, p99 = 0, mean = 0;
};
Spread spread_of(std::vector<double> sample);  // not empty

/// Ids of [0, vocabulary), the same for the same numbers.
std::vector<int32_t> random_ids(uint32_t vocabulary, uint32_t count);

/// Enough runs of `milliseconds` each for a steady median: about a second of them, at least 20.
uint32_t choose_repetitions(double milliseconds);

/// Start times in milliseconds, and memory in bytes, of the whole process.
struct StartTimes {
  double open = 0;                 // map the file, Model::open
  double create = 0;               // threads, arena, Session::create
  std::optional<uint64_t> memory;  // more resident than before the file was opened, after the runs; unknown: none
};

/// The resident bytes of this process; none where the system does not report them.
std::optional<uint64_t> resident_bytes();

/// The timing of forward passes over random ids: one batch.
struct BatchTiming {
  std::vector<uint32_t> lengths;  // tokens of each sequence
  uint32_t tokens = 0;            // of all
  uint32_t repetitions = 0;
  Spread ms;
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

/// Times forward passes over one batch of random ids, sequences of these lengths, which the model takes. Of `options` it
/// reads engine, repetitions, warm-up, per_op and cost.
BatchTiming time_batch(const ModelFile& file, const BenchOptions& options, const std::vector<uint32_t>& lengths);

/// Adds what was run and how often: threads, isa, backend, build, compiler, repetitions.
void put_setting(const BenchOptions& options, uint32_t threads, Isa isa, size_t repetitions, Json* object);
/// Adds p50_ms, p99_ms, min_ms and mean_ms.
void put_milliseconds(const Spread& ms, Json* object);

/// Adds "cost": of a text.
void put_cost(const probe::Cost& cost, uint64_t weight_bytes, Json* object);
/// The same for people, a line or two.
void print_cost(const probe::Cost& cost, uint64_t weight_bytes, const std::string& of);

/// bench over ids: prints times of every length, or of the mix.
void print_batches(const ModelFile& file, const BenchOptions& options, const std::vector<BatchTiming>& timings,
                   Isa isa);

/// bench --prompt: what generating takes.
void bench_generating(const ModelFile& file, const BenchOptions& options);

/// bench --text and --texts: from text to answer.
void bench_texts(const ModelFile& file, const BenchOptions& options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_BENCH_H_
