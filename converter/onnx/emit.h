// Emit: blocks to operators of a graph. What stands behind an operator and can be its epilogue becomes that; linear layers of one input
// that make queries, keys and values become one.
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

/// Which blocks are emitted together, by the last of them.
struct Chain {
  std::vector<int32_t> members;  // in their order; the first is the operator, or a stage of rows
  std::vector<int32_t> tables;   // of an Embed: lookups that are summed
  int32_t bias = -1, activation = -1, gate = -1, residual = -1, norm = -1;  // blocks; of gate and residual the operand
  int level = 0;                                                            // how far the epilogue is filled
  bool unit = false;                                                        // of a Pool: divided by its length
  int32_t attention = -1;                                                   // it is emitted by this one
};

struct Emitted {
  std::map<int32_t, int32_t> tensors;  // of blocks that are outputs
  std::map<int32_t, bool> behind;      // is a linear layer of a head in front of it?
  uint32_t vocabulary = 0, hidden = 0;
  bool causal = false;
  uint32_t kept = 0, requantised = 0;  // matrices of integers
};

/// Tokens of the longest text: what all tables of places have rows for, else `otherwise`; at most max_tokens, where that is not 0.
uint32_t positions_of(const std::vector<Block>& blocks, uint32_t max_tokens, uint32_t otherwise);

/// Appends what `outputs` need, for texts of so many positions. Large matrices of `model` stay in its file until they are stored. Throws Error
/// where a constant cannot be stored.
Emitted emit(const std::vector<Block>& blocks, const std::vector<int32_t>& outputs, uint32_t positions,
             const std::shared_ptr<const Model>& model, Graph& graph, Builder& builder);

/// Chains of the blocks that outputs need; by each's last block.
std::map<int32_t, Chain> make_chains(const std::vector<Block>& blocks, const std::vector<int32_t>& outputs);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_EMIT_H_
