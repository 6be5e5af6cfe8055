// A layer of experts: a router's scores choose the feed-forward layers that each token goes through (Switch, arXiv
// 2101.03961; Mixtral, arXiv 2401.04088).
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_EXPERTS_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_EXPERTS_H_

#include <cstdint>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "source/weights.h"

namespace bantam::convert {

/// Adds the experts of layer `layer` over x [tokens, hidden]; returns [tokens, hidden].
int32_t import_experts(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t layer, int32_t x,
                       const EpilogueSpec& epilogue);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_EXPERTS_H_
