// Structured pruning: whole attention heads, or columns between the feed-forward matrices, go, and layers become narrower.
#ifndef BANTAM_CONVERTER_STUDENT_STRUCTURED_H_
#define BANTAM_CONVERTER_STUDENT_STRUCTURED_H_

#include <cstdint>
#include <vector>

#include "prune/prune.h"
#include "student/importance.h"

namespace bantam::convert {

/// What went, by layer.
struct StructureReport {
  PruneOptions options;
  std::vector<uint32_t> before;                          // heads, or columns
  std::vector<Indices> removed;                          // which of them
  uint64_t parameters_before = 0, parameters_after = 0;  // of all layers; shared ones once
};

/// Removes the units of `options.pattern` with the least importance: the fewest that make `options.share` of all layers'
/// (global) or of each layer's (uniform). Feed-forward columns stay in multiples of kFfnStep, and in every layer something stays;
/// layers that share matrices lose the same. Measured: importance on the texts of `probe`, and what the units add on average
/// goes into the next bias (student/importance.h, student/narrow.h); else by weights alone, and `probe` is not read.
/// Throws Error (usage) where a share leaves a layer nothing, (invalid) where texts are wanted and there is no tokenizer.
StructureReport prune_structures(Draft& draft, const PruneOptions& options, const Probe& probe);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_STRUCTURED_H_
