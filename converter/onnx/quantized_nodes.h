// Operators on integers that ONNX Runtime's quantizer writes as one node ("QOperator"), as the nodes that they stand for.
#ifndef BANTAM_CONVERTER_ONNX_QUANTIZED_NODES_H_
#define BANTAM_CONVERTER_ONNX_QUANTIZED_NODES_H_

#include <vector>

#include "onnx/model.h"

namespace bantam::convert::onnx {

/// DequantizeLinear of each operand, the operator on numbers, and QuantizeLinear of its output, as ONNX and the contrib operators of
/// ONNX Runtime define QLinearMatMul, QLinearConv, QGemm, QLinearAdd, QLinearMul, QLinearSigmoid, QLinearLeakyRelu, QLinearSoftmax,
/// QLinearReduceMean and QLinearConcat. Empty: `node` is none of them, or lacks an operand. Names between them begin with the node's
/// first output. Counts in `budget` what the nodes take.
std::vector<Node> without_integers(const Node& node, MemoryBudget& budget);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_QUANTIZED_NODES_H_
