// Time by operator, through the session's observer.
#ifndef BANTAM_CONVERTER_PROBE_OP_TIMES_H_
#define BANTAM_CONVERTER_PROBE_OP_TIMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "probe/limits.h"

namespace bantam::probe {

/// One operator on one batch. Milliseconds are those of one forward pass, summed over tiles and workers: time of one
/// core, whatever the number of threads.
struct OpTime {
  std::string name;
  std::string kind;   // "Linear", "Attention", ...
  uint64_t macs = 0;  // multiply-accumulates: dense layers, and attention's two products; 0 for all others
  bool int8 = false;  // whether those are int8 dot products, else f32
  double least = 0;   // of all passes
  double mean = 0;    // over all passes
  uint64_t int8_macs() const { return int8 ? macs : 0; }
  uint64_t f32_macs() const { return int8 ? 0 : macs; }
  /// "int8" or "f32"; "" where nothing is multiplied.
  const char* type() const { return macs == 0 ? "" : int8 ? "int8" : "f32"; }
};

/// Operators of one kind and number type together.
struct KindTime {
  OpTime sum;  // its name is empty
  uint32_t count = 0;
};
std::vector<KindTime> sum_kinds(const std::vector<OpTime>& ops);

/// Sum of the least times.
double total_least(const std::vector<OpTime>& ops);

/// Every operator of the model on this batch, in the order of the file; times are 0.
std::vector<OpTime> list_ops(const Model& model, const Batch& batch);

/// One run of a batch through all that a model is.
using RunPasses = Status (*)(Session&, const Batch&);

/// The same with times of `passes` runs of `batch` (at least 1) by `run`. `workers` is the session's. Removes the session's
/// observer. The time that the clock itself takes is taken off, at most half
/// of an interval.
Status time_ops(Session& session, const Batch& batch, uint32_t workers, uint32_t passes, RunPasses run,
                std::vector<OpTime>* out);

/// Milliseconds that so many multiplications take one core at its peak: the dot-product limit. 0: no peak is known.
double limit_ms(const Peaks& peaks, uint64_t int8_macs, uint64_t f32_macs);

/// `op`'s least time as a fraction of the peak of one core: its time is summed over cores. 0: it multiplies nothing, or no
/// peak is known.
double of_peak(const OpTime& op, const Peaks& peaks);

}  // namespace bantam::probe

#endif  // BANTAM_CONVERTER_PROBE_OP_TIMES_H_
