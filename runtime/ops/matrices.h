// Lists the inputs of operators that are matrices to multiply rows with. For converters and measurements, which link
// every operator; sessions do not use it.
#ifndef BANTAM_OPS_MATRICES_H_
#define BANTAM_OPS_MATRICES_H_

#include "ops/ops.h"

namespace bantam::ops {

/// One element per row of ops.inc; bit i: inputs[i] is such a matrix, in a layout of weights.
inline constexpr uint16_t kMatrices[] = {
#define BANTAM_OP(name, kind, numerics, inputs, required, outputs, whole, macs, matrices, ...) matrices,
#include "ops/ops.inc"
#undef BANTAM_OP
};

/// Calls visit(tensor) for each matrix of an operator in a file: those of its row that are present, and those of its
/// position scores.
template <class Visit>
void for_each_matrix(const fb::Op& op, const Visit& visit) {
  static_assert(kLinkedOps == linked::kOps, "rows are those of ops.inc where all are linked");
  const uint32_t row = find_row(op);
  if (row == linked::kOps) return;
  for (uint32_t i = 0; i < kFacts[row].inputs; ++i) {
    if ((kMatrices[row] >> i & 1u) != 0 && operand(op.inputs(), i) >= 0) visit(operand(op.inputs(), i));
  }
  if (const fb::Attention* a = op.attributes_as_Attention()) {
    for (const int8_t position : {a->place_keys(), a->place_queries()}) {
      if (position >= 0) visit(named_input(op, position));
    }
  }
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MATRICES_H_
