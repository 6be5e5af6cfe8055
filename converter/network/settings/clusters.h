// Reads clusters of words from Transformer-XL's settings: adaptive inputs and the adaptive softmax (arXiv 1809.10853,
// 1609.04309).
#ifndef BANTAM_CONVERTER_NETWORK_SETTINGS_CLUSTERS_H_
#define BANTAM_CONVERTER_NETWORK_SETTINGS_CLUSTERS_H_

#include "network/settings/config.h"

namespace bantam::convert {

/// Reads "d_embed", "cutoffs" and "div_val" for families with clusters (Block::clustered). Needs the vocabulary and the
/// hidden columns.
void read_clusters(const Fields& config, EncoderConfig& out);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_SETTINGS_CLUSTERS_H_
