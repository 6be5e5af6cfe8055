// Small questions that every pass asks of a graph: who writes a tensor, who reads it, how wide it is.
#ifndef BANTAM_CONVERTER_GRAPH_ACCESS_H_
#define BANTAM_CONVERTER_GRAPH_ACCESS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "format/view.h"
#include "graph/graph.h"

namespace bantam::convert {

/// The graph's only subgraph with operators. Throws Error (unsupported) when there are several.
fb::SubgraphT& main_subgraph(Graph& graph);
const fb::SubgraphT& main_subgraph(const Graph& graph);

inline fb::TensorT& tensor(Graph& graph, int32_t index) { return *graph.model.tensors[static_cast<size_t>(index)]; }
inline const fb::TensorT& tensor(const Graph& graph, int32_t index) {
  return *graph.model.tensors[static_cast<size_t>(index)];
}
inline bool is_constant(const Graph& graph, int32_t index) {
  return index >= 0 && graph.constants[static_cast<size_t>(index)] != nullptr;
}

/// A matrix whose type is chosen: it is multiplied with, or its rows are looked up. Other matrices hold what belongs to places
/// (biases by distance, rotary positions) and stay f32.
bool is_weight_matrix(const Graph& graph, size_t index);

/// Does the op give another shape or meaning to scores that are an output, rather than compute with what layers pass on?
inline bool shapes_output(const fb::OpT& op) {
  return op.attributes.type == fb::OpAttributes::Slice || op.attributes.type == fb::OpAttributes::Crf;
}

/// Does the op run over sequences, whatever it writes rows of?
inline bool runs_over_sequences(const fb::OpT& op) {
  return op.attributes.type == fb::OpAttributes::Crf || op.attributes.type == fb::OpAttributes::Recurrent ||
         op.attributes.type == fb::OpAttributes::ChunkAttention;
}

/// Weights of terms: a row a sequence, of all its tokens' rows.
inline bool makes_terms(const fb::OpT& op) {
  return op.attributes.type == fb::OpAttributes::Linear && op.attributes.AsLinear()->saturations != 0;
}

/// The pass that an op belongs to: its tag says on which side it is.
inline fb::Phase phase_of(const fb::OpT& op) {
  return op.tag != nullptr && op.tag->side() != 0 ? fb::Phase::source : fb::Phase::main;
}
/// Left by the pass over a source: it lies in the session's memory, not in the plan.
inline bool is_state(const fb::TensorT& tensor) { return tensor.role == fb::Role::state; }

/// Value of a constant dimension; 0 for a symbolic one.
inline uint64_t fixed(const fb::Dim& dim) { return dim.symbol() < 0 ? static_cast<uint64_t>(dim.b()) : 0; }
/// Columns of a two-dimensional tensor; elements of a vector.
uint64_t width(const fb::TensorT& tensor);
/// Rows of a constant matrix; 1 for a vector.
uint64_t rows(const fb::TensorT& tensor);

/// The tensor that a field of `op` (of its epilogue, tables or integers) names by its position in op.inputs; -1: none.
inline int32_t named_input(const fb::OpT& op, int8_t position) {
  return position < 0 ? -1 : op.inputs[static_cast<size_t>(position)];
}
/// Makes that field name `tensor`, -1: nothing. Inputs are appended or removed as needed, and the op's other fields follow.
/// The op has its attributes and numerics already.
void name_input(fb::OpT& op, int8_t& position, int32_t tensor);

/// Tensors that an Embed looks up, table by table; none for other ops.
std::vector<int32_t> tables_of(const fb::OpT& op);

/// What an operator does to each row after its own work, by tensors instead of positions; see Epilogue in the schema.
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
/// The epilogue of `op`; the default where it has none.
EpilogueSpec epilogue_of(const fb::OpT& op);
/// Replaces it.
void set_epilogue(fb::OpT& op, const EpilogueSpec& spec);

/// Calls visit(slot) for each tensor index that `op` reads, those that are -1 left out. The slot may be overwritten.
void for_each_read(fb::OpT& op, const std::function<void(int32_t&)>& visit);
void for_each_read(const fb::OpT& op, const std::function<void(int32_t)>& visit);
/// The same for the outputs.
void for_each_write(fb::OpT& op, const std::function<void(int32_t&)>& visit);
void for_each_write(const fb::OpT& op, const std::function<void(int32_t)>& visit);

/// Index of the op that writes each tensor; -1: none. In an SSA graph there is at most one.
std::vector<int32_t> producers(const Graph& graph);

/// Does `op` read rows of `input` other than the ones that it computes (keys and values, pooling)?
bool reads_all_rows(const fb::OpT& op, int32_t input);

/// Does `op` read of `input` the row of the token before, which an op behind it writes?
bool reads_before(const fb::OpT& op, int32_t input);

/// Which ops take each sequence one token after the other: from the first that reads the token before to the last that writes what one
/// reads, those of other passes left out.
std::vector<bool> ops_by_tokens(const Graph& graph);

/// Adds a tensor without constant values and returns its index.
int32_t add_tensor(Graph& graph, fb::TensorT tensor);

/// Replaces every tensor index i of the model by map[i]. Tensors with map[i] < 0 are removed and must not
/// be referred to any more; several may map to one only if all but one of them are removed by `keep`.
void remap_tensors(Graph& graph, const std::vector<int32_t>& map, const std::vector<bool>& keep);

/// Removes tensors that no op, input or output names. Returns the names of constants that went.
std::vector<std::string> remove_unused_tensors(Graph& graph);

/// Bytes of a tokenizer's table; null: it has none of this name.
const std::vector<uint8_t>* blob_bytes(const Graph& graph, const fb::TokenizerT& tokenizer, fb::BlobName name);

/// A deep copy of the model that shares the constants' values; blobs point into the copy.
Graph clone(const Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_ACCESS_H_
