// ConvBERT's convolution beside attention (arXiv 2008.02496): each token's weights for its neighbors are made of a
// query and of a key over these neighbors.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_SPAN_CONVOLUTION_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_SPAN_CONVOLUTION_H_

#include <cstdint>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "source/weights.h"

namespace bantam::convert {

/// Adds the convolution of layer `layer` over x [tokens, hidden]; `queries` and the result are [tokens, heads * head
/// width]. Missing tensors become problems.
int32_t import_span_convolution(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t layer,
                                int32_t x, int32_t queries);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_SPAN_CONVOLUTION_H_
