// The verifier: structure first, then meaning. After it, nothing in the runtime checks the file again.
#ifndef BANTAM_MODEL_VERIFY_H_
#define BANTAM_MODEL_VERIFY_H_

#include "format/verdict.h"
#include "format/view.h"

namespace bantam {

/// Checks the graph section, and that all it addresses lies inside the data section, which is not read
/// except for tokenizer tables and sparse weights. O(graph size + those) for files that the converter writes; bounded by a
/// fixed budget for any other. Fills `fault` (if given) on failure.
Status verify_graph(const uint8_t* graph, size_t graph_size, const uint8_t* data, size_t data_size, Fault* fault);

/// Most inputs and most outputs of one op.
constexpr uint32_t kMostInputs = 24;
constexpr uint32_t kMostOutputs = 8;

// The parts, in the order in which they run; each relies on the ones before.

/// Counts, symbols, subgraphs, inputs.
Verdict check_model(const fb::Model& model);
/// One tensor on its own: enums, shape, blobs or place in the plan.
Verdict check_tensor(const fb::Model& model, int32_t index, size_t data_size);
/// Weights stored without their zeros, which are read: which inputs and outputs they name, how many there are. O(their bytes),
/// of which files have no more than data.
Verdict check_indexed(const fb::Model& model, const uint8_t* data, size_t data_size);
/// Steps cover the ops in order; every op's operands are few and in range.
Verdict check_steps(const fb::Subgraph& graph, uint32_t tensors, uint32_t* bad_op);
/// Producers before consumers; tile tensors inside their step; nothing that other tiles read is written in
/// the same step; live tensors never overlap.
Verdict check_plan(const fb::Model& model);
/// Outputs, task and label sets.
Verdict check_task(const fb::Model& model);

}  // namespace bantam

#endif  // BANTAM_MODEL_VERIFY_H_
