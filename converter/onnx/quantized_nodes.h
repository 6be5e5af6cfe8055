// Expands the integer operators that ONNX Runtime's quantizer writes as one node ("QOperator") to the equivalent nodes.
#ifndef BANTAM_CONVERTER_ONNX_QUANTIZED_NODES_H_
#define BANTAM_CONVERTER_ONNX_QUANTIZED_NODES_H_

#include <vector>

#include "onnx/model.h"

namespace bantam::convert::onnx {

/// Returns DequantizeLinear for each operand, the operator on floats, and QuantizeLinear for its output, as ONNX and
/// the contrib operators of ONNX Runtime define QLinearMatMul, QLinearConv, QGemm, QLinearAdd, QLinearMul,
/// QLinearSigmoid, QLinearLeakyRelu, QLinearSoftmax, QLinearReduceMean and QLinearConcat. Empty if `node` is none of
/// these, or lacks an operand. Names of intermediate values begin with the node's first output. Counts the memory of
/// the nodes in `budget`.
std::vector<Node> without_integers(const Node& node, MemoryBudget& budget);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_QUANTIZED_NODES_H_
