// Counts the bytes that a step of generation must read.
#ifndef BANTAM_CONVERTER_PROBE_STEP_BYTES_H_
#define BANTAM_CONVERTER_PROBE_STEP_BYTES_H_

#include <cstdint>

#include "bantam/model.h"

namespace bantam::probe {

/// Returns the bytes of the weights that the main pass multiplies with, including their scales and sums, all of which
/// each token reads. Excludes keys, values and rows of embeddings.
uint64_t step_bytes(const Model& model);

/// Returns these bytes for all passes, which a text reads at least once.
uint64_t pass_bytes(const Model& model);

}  // namespace bantam::probe

#endif  // BANTAM_CONVERTER_PROBE_STEP_BYTES_H_
