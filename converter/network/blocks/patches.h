// Images: the part of a vision transformer (arXiv 2010.11929) before its layers, and heads that read two of its rows.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_PATCHES_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_PATCHES_H_

#include <memory>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "network/stack.h"
#include "source/model_source.h"
#include "source/weights.h"

namespace bantam::convert {

/// Embeds patches as rows [tokens, hidden]: the row of the whole image, the patches from left to right and from top to
/// bottom, and the distillation row if the family has one. Adds the inputs.
int32_t embed_patches(Builder& builder, Weights& weights, const EncoderConfig& config, const std::string& base,
                      const EpilogueSpec& after);

/// How images become rows, from preprocessor_config.json; without that file pixels become numbers from -1 to 1, and a
/// note says so. `sound`: the property of sound models (bantam/sound.h), empty for others. Wrong settings become
/// problems.
std::unique_ptr<fb::ImageT> read_image(const ModelSource& source, const EncoderConfig& config, Problems& problems,
                                       std::vector<std::string>& notes, std::string* sound);

/// Scores [sequences, labels] of a head that reads two rows: the mean of the scores of two layers, one over the first
/// and one over the last row (DeiT, arXiv 2012.12877); or one layer over the first row and the mean of the patches,
/// concatenated (DINOv2, arXiv 2304.07193).
int32_t scores_of_two(Builder& builder, Weights& weights, const Head& head, const Encoder& encoder,
                      const EncoderConfig& config, uint32_t labels);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_PATCHES_H_
