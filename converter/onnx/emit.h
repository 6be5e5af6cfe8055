// Emit: converts blocks to operators of a graph. Blocks after an operator become its epilogue where possible. Linear
// layers with the same input that compute queries, keys and values become one.
#ifndef BANTAM_CONVERTER_ONNX_EMIT_H_
#define BANTAM_CONVERTER_ONNX_EMIT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "onnx/lowering/block.h"

namespace bantam::convert::onnx {

/// Blocks that are emitted as one operator, identified by the last of them.
struct Chain {
  std::vector<int32_t> members;  // in order; the first is the operator, or a stage of rows
  std::vector<int32_t> tables;   // of an Embed: the lookups that are summed
  /// Indices of blocks; for gate and residual, of the operand.
  int32_t bias = -1, activation = -1, gate = -1, residual = -1, norm = -1;
  /// The last epilogue step that is used so far.
  int level = 0;
  /// For a Pool: its output is normalized to unit length.
  bool unit = false;
  /// The attention that emits this block; -1: none.
  int32_t attention = -1;
};

struct Emitted {
  std::map<int32_t, int32_t> tensors;  // of blocks that are outputs
  std::map<int32_t, bool> behind;      // true if a linear layer of a head comes before the block
  uint32_t vocabulary = 0, hidden = 0;
  bool causal = false;
  uint32_t kept = 0, requantised = 0;  // numbers of integer matrices that are kept or quantized again
};

/// The length of the longest text in tokens: the number of rows that all position tables have, or `otherwise` without
/// such tables; at most max_tokens, unless that is 0.
uint32_t positions_of(const std::vector<Block>& blocks, uint32_t max_tokens, uint32_t otherwise);

/// Appends the operators that `outputs` need, for texts of `positions` tokens. Large matrices of `model` stay in its
/// file until they are stored. Throws Error if a constant cannot be stored.
Emitted emit(const std::vector<Block>& blocks, const std::vector<int32_t>& outputs, uint32_t positions,
             const std::shared_ptr<const Model>& model, Graph& graph, Builder& builder);

/// The chains of the blocks that outputs need, by the last block of each chain.
std::map<int32_t, Chain> make_chains(const std::vector<Block>& blocks, const std::vector<int32_t>& outputs);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_EMIT_H_
