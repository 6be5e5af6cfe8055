// Time by operator, through the session's observer.
#ifndef BANTAM_CONVERTER_CLI_BENCH_OPS_H_
#define BANTAM_CONVERTER_CLI_BENCH_OPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/engine.h"

namespace bantam::cli {

struct OpTiming {
  std::string name;
  std::string kind;
  double milliseconds = 0;  // of one forward pass, summed over tiles and workers
  double share = 0;         // of all operators' time
  uint64_t macs = 0;        // multiply-accumulates of one forward pass: dense layers and attention
  double gmacs_per_second() const { return milliseconds > 0 ? static_cast<double>(macs) / milliseconds * 1e-6 : 0; }
};

/// Runs `batch` so many times and gives the mean time of each operator, in file order.
std::vector<OpTiming> time_ops(Engine& engine, const Batch& batch, uint32_t repetitions);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_BENCH_OPS_H_
