// The recurrence of Griffin's layers (RG-LRU, arXiv 2402.19427).
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_GATED_RECURRENCE_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_GATED_RECURRENCE_H_

#include <cstdint>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "source/weights.h"

namespace bantam::convert {

/// Adds the recurrence of layer `layer` over rows `x` and returns its rows, as wide as x. Its gates are computed for
/// each head's columns alone; their matrices have zeros elsewhere.
int32_t import_gated_recurrence(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t layer,
                                int32_t x);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_GATED_RECURRENCE_H_
