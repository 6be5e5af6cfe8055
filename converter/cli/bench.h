// bench: prints times as JSON, as tables and as comma-separated values.
#ifndef BANTAM_CONVERTER_CLI_BENCH_H_
#define BANTAM_CONVERTER_CLI_BENCH_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/frame/output.h"
#include "measure/generate_times.h"
#include "measure/pass_times.h"

namespace bantam::cli {

using convert::BatchTiming;
using convert::ModelFile;

struct BenchOptions {
  std::string model;
  std::vector<uint32_t> seq;
  std::vector<uint32_t> mix;
  std::vector<std::string> texts;
  std::string texts_file;
  std::optional<std::string> pair;
  convert::GenerateWork work;  // without a prompt, nothing is generated
  convert::TimeOptions time;
  bool json = false;
  bool csv = false;
  bool plain = false;
};

/// Starts the record of a measurement: the file, `subject` (what was measured), and how it was run: threads, isa,
/// backend, build, compiler, repetitions.
Json bench_record(const ModelFile& file, const BenchOptions& options, const Json& subject, uint32_t threads, Isa isa,
                  size_t repetitions);
/// Adds p50_ms, p99_ms, min_ms and mean_ms.
void put_milliseconds(const convert::TimeSpread& ms, Json* record);

/// Adds "cost": the cost of one text.
void put_cost(const probe::Cost& cost, uint64_t weight_bytes, Json* record);
/// Prints the same cost for people, in one or two lines.
void print_cost(const probe::Cost& cost, uint64_t weight_bytes, const std::string& of);

/// bench over ids: prints the times of every length, or of the mix.
void print_batches(const ModelFile& file, const BenchOptions& options, const std::vector<BatchTiming>& timings,
                   Isa isa);

/// bench --prompt: measures generation.
void bench_generating(const ModelFile& file, const BenchOptions& options);

/// bench --text and --texts: measures the whole way from text to answer.
void bench_texts(const ModelFile& file, const BenchOptions& options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_BENCH_H_
