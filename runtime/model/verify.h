// The verifier: structure first, then meaning. Afterwards nothing in the runtime checks the file again.
#ifndef BANTAM_MODEL_VERIFY_H_
#define BANTAM_MODEL_VERIFY_H_

#include "format/verdict.h"
#include "format/view.h"

namespace bantam {

/// Checks the graph section, and that everything it addresses lies inside the data section, which is not read except
/// for tokenizer tables and sparse weights. O(graph size + those) for files that the converter writes; bounded by a
/// fixed budget for any other. Fills `fault` (if given) on failure.
Status verify_graph(const uint8_t* graph, size_t graph_size, const uint8_t* data, size_t data_size, Fault* fault);

/// Most inputs and most outputs of one operator.
constexpr uint32_t kMostInputs = 24;
constexpr uint32_t kMostOutputs = 8;

// The parts of the check, in the order in which they run; each relies on the preceding ones.

/// Checks counts, symbols, subgraphs and inputs.
Verdict check_model(const fb::Model& model);
/// Checks one tensor by itself: enums, shape, blobs or its place in the plan.
Verdict check_tensor(const fb::Model& model, int32_t index, size_t data_size);
/// Reads and checks ternary weights, and weights that are stored without their zeros: the inputs and outputs that they
/// refer to, and their counts. O(their bytes), which files cannot make larger than their data.
Verdict check_contents(const fb::Model& model, const uint8_t* data, size_t data_size);
/// Checks that steps cover the operators in order, and that every operator's operands are few and in range.
Verdict check_steps(const fb::Subgraph& graph, uint32_t tensors, uint32_t* bad_op);
/// Checks that producers precede consumers, that tile tensors are used only inside their step, that a step does not
/// write what its other tiles read, and that live tensors never overlap.
Verdict check_plan(const fb::Model& model);
/// Checks outputs, task and label sets.
Verdict check_task(const fb::Model& model);

}  // namespace bantam

#endif  // BANTAM_MODEL_VERIFY_H_
