// Small queries on graphs that all passes need: which op writes a tensor, which ops read it, how wide it is.
#ifndef BANTAM_CONVERTER_GRAPH_ACCESS_H_
#define BANTAM_CONVERTER_GRAPH_ACCESS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "format/view.h"
#include "graph/graph.h"

namespace bantam::convert {

/// The graph's only subgraph with operators. Throws Error (unsupported) if there are several.
fb::SubgraphT& main_subgraph(Graph& graph);
const fb::SubgraphT& main_subgraph(const Graph& graph);

inline fb::TensorT& tensor(Graph& graph, int32_t index) { return *graph.model.tensors[static_cast<size_t>(index)]; }
inline const fb::TensorT& tensor(const Graph& graph, int32_t index) {
  return *graph.model.tensors[static_cast<size_t>(index)];
}
inline bool is_constant(const Graph& graph, int32_t index) {
  return index >= 0 && graph.constants[static_cast<size_t>(index)] != nullptr;
}

/// Returns true for a matrix whose type the user chooses: ops multiply by it or look up its rows. Other matrices hold
/// constants of positions (biases by distance, rotary positions) and stay f32.
bool is_weight_matrix(const Graph& graph, size_t index);

/// Returns true if the op only changes the shape or meaning of output scores, and does not compute activations that
/// later layers use.
inline bool shapes_output(const fb::OpT& op) {
  return op.attributes.type == fb::OpAttributes::Slice || op.attributes.type == fb::OpAttributes::Crf;
}

/// Returns true if the op runs over sequences, whatever its output rows represent.
inline bool runs_over_sequences(const fb::OpT& op) {
  return op.attributes.type == fb::OpAttributes::Crf || op.attributes.type == fb::OpAttributes::Recurrent ||
         op.attributes.type == fb::OpAttributes::ChunkAttention || op.attributes.type == fb::OpAttributes::Scan;
}

/// Returns true if the op computes term weights: one row per sequence, from the rows of all its tokens.
inline bool makes_terms(const fb::OpT& op) {
  return op.attributes.type == fb::OpAttributes::Linear && op.attributes.AsLinear()->saturations != 0;
}

/// The pass that an op belongs to, from the side in its tag.
inline fb::Phase phase_of(const fb::OpT& op) {
  return op.tag != nullptr && op.tag->side() != 0 ? fb::Phase::source : fb::Phase::main;
}
/// Returns true for a tensor that the pass over a source stores for the main pass. It lies in the session's memory, not
/// in the memory plan.
inline bool is_state(const fb::TensorT& tensor) { return tensor.role == fb::Role::state; }

/// Value of a constant dimension; 0 for a symbolic one.
inline uint64_t fixed(const fb::Dim& dim) { return dim.symbol() < 0 ? static_cast<uint64_t>(dim.b()) : 0; }
/// Columns of a two-dimensional tensor; elements of a vector.
uint64_t width(const fb::TensorT& tensor);
/// Rows of a constant matrix; 1 for a vector.
uint64_t rows(const fb::TensorT& tensor);

/// The tensor to which a field of `op` (in its epilogue, tables or integers) refers by its position in op.inputs; -1:
/// none.
inline int32_t named_input(const fb::OpT& op, int8_t position) {
  return position < 0 ? -1 : op.inputs[static_cast<size_t>(position)];
}
/// Makes that field refer to `tensor` (-1: none). Appends or removes inputs as needed and adjusts the op's other
/// fields. The op must already have its attributes and numerics.
void name_input(fb::OpT& op, int8_t& position, int32_t tensor);

/// The tables of an Embed operator, in order; empty for other ops.
std::vector<int32_t> tables_of(const fb::OpT& op);

/// The epilogue that an operator applies to each output row, with tensor indices instead of positions; see Epilogue in
/// the schema.
struct EpilogueSpec {
  fb::ActivationKind activation = fb::ActivationKind::none;
  int32_t gate = -1;
  int32_t residual = -1;
  fb::NormKind norm = fb::NormKind::none;
  int32_t gamma = -1;
  int32_t beta = -1;
  float epsilon = 1e-12F;
  int32_t smooth = -1;
  bool store_sum = false;
};
/// The epilogue of `op`; the default if it has none.
EpilogueSpec epilogue_of(const fb::OpT& op);
/// Replaces the epilogue of `op`.
void set_epilogue(fb::OpT& op, const EpilogueSpec& spec);

/// Calls visit(slot) for each tensor index that `op` reads, except -1. The slot may be overwritten.
void for_each_read(fb::OpT& op, const std::function<void(int32_t&)>& visit);
void for_each_read(const fb::OpT& op, const std::function<void(int32_t)>& visit);
/// Likewise calls visit for each output.
void for_each_write(fb::OpT& op, const std::function<void(int32_t&)>& visit);
void for_each_write(const fb::OpT& op, const std::function<void(int32_t)>& visit);

/// Index of the op that writes each tensor; -1: none. In an SSA graph there is at most one.
std::vector<int32_t> producers(const Graph& graph);

/// Returns true if `op` reads other rows of `input` than the one that it computes (keys and values, pooling).
bool reads_all_rows(const fb::OpT& op, int32_t input);

/// Returns true if `op` reads the previous token's row of `input`, which a later op writes.
bool reads_before(const fb::OpT& op, int32_t input);

/// Returns, for each op, whether it runs token by token within each sequence: the ops from the first that reads the
/// previous token to the last that writes a row read this way, except ops of other passes.
std::vector<bool> ops_by_tokens(const Graph& graph);

/// Adds a tensor without constant values and returns its index.
int32_t add_tensor(Graph& graph, fb::TensorT tensor);

/// Replaces every tensor index i of the model by map[i]. Tensors with map[i] < 0 are removed and must have no
/// references left. Several tensors may map to one only if `keep` removes all but one of them.
void remap_tensors(Graph& graph, const std::vector<int32_t>& map, const std::vector<bool>& keep);

/// Removes tensors that no op, input or output refers to. Returns the names of the removed constants.
std::vector<std::string> remove_unused_tensors(Graph& graph);

/// The bytes of a tokenizer's table; null if it has no table of this name.
const std::vector<uint8_t>* blob_bytes(const Graph& graph, const fb::TokenizerT& tokenizer, fb::BlobName name);

/// Returns a deep copy of the model that shares the constants' values; blobs point into the copy.
Graph clone(const Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_ACCESS_H_
