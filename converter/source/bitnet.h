// Directories whose config.json has a quantization_config of BitNet b1.58 (arXiv 2402.17764), of any family: linear
// weights are -1, 0 and 1 times one scale. The formulas are those of transformers' integrations/bitnet.py.
#ifndef BANTAM_CONVERTER_SOURCE_BITNET_H_
#define BANTAM_CONVERTER_SOURCE_BITNET_H_

#include <string>

#include "base/json_file.h"
#include "source/checkpoint.h"

namespace bantam::convert {

/// Returns true if config.json says that the weights are BitNet's.
bool is_bitnet(const Json& config);

/// Replaces linear weights by the values that layers multiply with, read on demand as tensors of type kTernaryTensor:
/// packed ones (2 bits, four rows of outputs in a row of bytes) and whole ones with their weight_scale, or, in mode
/// "online", those of training, rounded as transformers rounds them for every pass. Removes the scales, and
/// quantization_config from `config`, which problems call `config_name`. Throws Error for settings and tensors that do
/// not fit.
void settle_bitnet(Json* config, const std::string& config_name, Checkpoint* checkpoint);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_BITNET_H_
