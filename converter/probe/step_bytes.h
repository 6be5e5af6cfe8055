// What a step of generating has to read.
#ifndef BANTAM_CONVERTER_PROBE_STEP_BYTES_H_
#define BANTAM_CONVERTER_PROBE_STEP_BYTES_H_

#include <cstdint>

#include "bantam/model.h"

namespace bantam::probe {

/// Bytes of weights, with their scales and sums, that the main pass multiplies with: every one is read for each token. Keys, values
/// and rows of embeddings are not among them.
uint64_t step_bytes(const Model& model);

/// The same of all passes: what a text reads at least once, wherever it lies.
uint64_t pass_bytes(const Model& model);

}  // namespace bantam::probe

#endif  // BANTAM_CONVERTER_PROBE_STEP_BYTES_H_
