// Lowering: converts the importer's f32 SSA graph, whose constants have their stored types, to the executable form:
// int8 activations as inputs of int8 weights, steps, shared storage, regions. Each pass maps a graph to a graph;
// pack/build.cpp calls them in the order of this file.
#ifndef BANTAM_CONVERTER_PACK_LOWER_H_
#define BANTAM_CONVERTER_PACK_LOWER_H_

#include "graph/graph.h"

namespace bantam::convert {

/// Merges all tensors that share a Constant (tied weights); adds the others' names to its `source`.
void merge_tied(Graph& graph);

/// Splits each linear layer that computes queries, keys and values, and its SplitHeads, in two: queries; keys and
/// values. Results have the same bits, because the outputs of a layer are independent.
void split_queries(Graph& graph);

/// Makes layers before a pooled first or last token compute only that row, if nothing else reads the other rows.
/// Results have the same bits. Does nothing if ops run token by token.
void pool_early(Graph& graph);
/// Undoes pool_early.
void pool_late(Graph& graph);

/// Gives each Linear with i8 weights an i8 input, outputs[1] of the producer. SplitHeads after an i8 Linear, and its
/// Attention, become i8. With `residual` i8, residuals and pooling also read the i8 form of outputs of ops with a
/// residual. f32 outputs that nobody reads become -1. Afterwards all ops have two outputs, except SplitHeads (three).
void quantize_activations(Graph& graph, fb::DType residual = fb::DType::f32);

/// Groups the ops into steps: as few as possible, or (`small`) such that few tensors outlive a step. Ops keep their
/// order within a step. See the description in schedule.cpp.
void make_steps(Graph& graph, bool small = false);

/// Lets a tensor reuse the storage of one that is read for the last time (residuals, queries), determines each
/// activation's region, and removes unused tensors.
void share_storage(Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_LOWER_H_
