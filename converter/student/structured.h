// Structured pruning: removes whole attention heads, or columns between the feed-forward matrices, so that layers
// become narrower.
#ifndef BANTAM_CONVERTER_STUDENT_STRUCTURED_H_
#define BANTAM_CONVERTER_STUDENT_STRUCTURED_H_

#include <cstdint>
#include <vector>

#include "prune/prune.h"
#include "student/importance.h"

namespace bantam::convert {

/// The removed units, by layer.
struct StructureReport {
  PruneOptions options;
  std::vector<uint32_t> before;                          // number of heads or columns, by layer
  std::vector<Indices> removed;                          // their indices, by layer
  uint64_t parameters_before = 0, parameters_after = 0;  // of all layers; shared ones count once
};

/// Removes the least important units of `options.pattern`: the fewest that make up `options.share` of all layers' units
/// (global) or of each layer's (uniform). Feed-forward columns stay in multiples of kFfnStep, and every layer keeps at
/// least one step; layers that share matrices lose the same units. If importance is measured, it is measured on the
/// texts of `probe`, and the units' mean contribution is added to the next bias (student/importance.h,
/// student/narrow.h); otherwise only weights count, and `probe` is not used. Throws Error (usage) if the fraction would
/// leave a layer empty, (invalid) if texts are needed and there is no tokenizer.
StructureReport prune_structures(Draft& draft, const PruneOptions& options, const Probe& probe);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_STRUCTURED_H_
