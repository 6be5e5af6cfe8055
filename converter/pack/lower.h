// Lowering: from the importer's f32 SSA graph, whose constants have had their stored types chosen, to the
// executable form: int8 activations where int8 weights read them, steps, storage shared in place, regions.
// Each pass is graph -> graph; pack/build.cpp calls them in the order in which they stand here.
#ifndef BANTAM_CONVERTER_PACK_LOWER_H_
#define BANTAM_CONVERTER_PACK_LOWER_H_

#include "graph/graph.h"

namespace bantam::convert {

/// Makes one tensor of all that share a Constant (tied weights); the others' names go to its `source`.
void merge_tied(Graph& graph);

/// Cuts each linear layer that makes queries, keys and values in two, and its SplitHeads: queries; keys and values. The
/// same bits, because a layer's outputs do not know of each other.
void split_queries(Graph& graph);

/// Lets layers in front of a pooled first or last token that nothing else reads compute that row alone. The same bits. Not where ops take
/// tokens one by one.
void pool_early(Graph& graph);
/// And what that makes of a graph as it was before.
void pool_late(Graph& graph);

/// Gives each Linear with i8 weights an i8 input: outputs[1] of the producer. SplitHeads behind an i8 Linear,
/// and its Attention, become i8. With `residual` i8, residuals and pooling too read the i8 form of what an op with a
/// residual wrote. f32 outputs that nobody reads any more become -1. outputs has two entries for every op but SplitHeads
/// (three).
void quantize_activations(Graph& graph, fb::DType residual = fb::DType::f32);

/// Orders the ops into steps, as few as can be or such that little outlives a step; ops keep their order inside a step.
/// See the prose in schedule.cpp.
void make_steps(Graph& graph, bool small = false);

/// Lets a tensor take over the storage of one that is read for the last time (residuals, queries), decides
/// each activation's region, and removes what is unused.
void share_storage(Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_LOWER_H_
