// xIELU (arXiv 2411.13010): an activation with numbers that are trained, one of each kind for a layer, made of rows'
// own operations.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_XIELU_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_XIELU_H_

#include <cstdint>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "source/weights.h"

namespace bantam::convert {

/// Adds a x^2 + b x for x above 0 and c (exp(x) - 1 - x) + b x below, to each column of x [rows, columns]; returns
/// [rows, columns]. With the file's numbers: a = softplus(Slot::kCurveAbove), b = Slot::kCurveSlope,
/// c = b + softplus(Slot::kCurveBelow). A missing tensor becomes a problem.
int32_t import_xielu(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t layer, int32_t x);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_XIELU_H_
