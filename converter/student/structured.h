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
  std::vector<uint32_t> before;                          // heads, or columns
  std::vector<Indices> removed;                          // which of them
  uint64_t parameters_before = 0, parameters_after = 0;  // of all layers; shared ones once
};

/// Removes the units of `options.pattern` with the least importance: the fewest that make `options.share` of all
/// layers' (global) or of each layer's (uniform). Feed-forward columns stay in multiples of kFfnStep, and every layer
/// keeps at least something; layers that share matrices lose the same units. If measured, takes the importance on the
/// texts of `probe`, and adds the units' mean contribution to the next bias (student/importance.h, student/narrow.h);
/// else goes by weights alone and does not read `probe`. Throws Error (usage) if a share leaves a layer nothing,
/// (invalid) if texts are needed and there is no tokenizer.
StructureReport prune_structures(Draft& draft, const PruneOptions& options, const Probe& probe);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_STRUCTURED_H_
