// Measures time by operator, through the session's observer.
#ifndef BANTAM_CONVERTER_PROBE_OP_TIMES_H_
#define BANTAM_CONVERTER_PROBE_OP_TIMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "probe/limits.h"

namespace bantam::probe {

/// One operator on one batch. Times are milliseconds of one forward pass, summed over tiles and workers: the time of
/// one core, whatever the number of threads.
struct OpTime {
  std::string name;
  std::string kind;  // "Linear", "Attention", ...
  // Multiply-accumulates of dense layers and of attention's two products; 0 for all other operators.
  uint64_t macs = 0;
  bool int8 = false;  // true: int8 dot products; false: f32
  double least = 0;   // minimum over all passes
  double mean = 0;    // mean over all passes
  uint64_t int8_macs() const { return int8 ? macs : 0; }
  uint64_t f32_macs() const { return int8 ? 0 : macs; }
  /// Returns "int8" or "f32"; "" if the operator multiplies nothing.
  const char* type() const { return macs == 0 ? "" : int8 ? "int8" : "f32"; }
};

/// All operators of one kind and number type together.
struct KindTime {
  OpTime sum;  // its name is empty
  uint32_t count = 0;
};
std::vector<KindTime> sum_kinds(const std::vector<OpTime>& ops);

/// Returns the sum of the `least` times.
double total_least(const std::vector<OpTime>& ops);

/// Returns every operator of the model on this batch, in the order of the file, with times of 0.
std::vector<OpTime> list_ops(const Model& model, const Batch& batch);

/// Runs a batch through all passes of a model.
using RunPasses = Status (*)(Session&, const Batch&);

/// Like list_ops(), with the times of `passes` (at least 1) runs of `batch` by `run`. `workers` must be the session's.
/// Removes the session's observer. Subtracts the time that the clock itself takes, at most half of an interval.
Status time_ops(Session& session, const Batch& batch, uint32_t workers, uint32_t passes, RunPasses run,
                std::vector<OpTime>* out);

/// Returns the milliseconds that one core needs for these multiply-accumulates at its peak rate. 0: no peak is known.
double limit_ms(const Peaks& peaks, uint64_t int8_macs, uint64_t f32_macs);

/// Returns `op`'s least time as a fraction of the peak of one core, since its time is summed over cores. 0: it
/// multiplies nothing, or no peak is known.
double of_peak(const OpTime& op, const Peaks& peaks);

}  // namespace bantam::probe

#endif  // BANTAM_CONVERTER_PROBE_OP_TIMES_H_
