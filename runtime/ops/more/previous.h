// Operators that read the preceding token, as sessions need them: which steps run token by token, and which rows
// contexts store for them.
#ifndef BANTAM_OPS_MORE_PREVIOUS_H_
#define BANTAM_OPS_MORE_PREVIOUS_H_

#include "ops/ops.h"

namespace bantam::ops {

inline bool is_previous(const fb::Op& op) {
  return linked::op(linked::kOpPrevious) && executed_kind(op) == fb::OpAttributes::Previous;
}

/// Returns true if the step runs each sequence token by token.
inline bool goes_by_tokens(const fb::Model& model, const fb::Step& step) {
  if constexpr (!linked::op(linked::kOpPrevious)) return false;
  for (uint32_t i = 0; i < step.op_count(); ++i) {
    if (is_previous(*graph(model).ops()->Get(step.first_op() + i))) return true;
  }
  return false;
}

/// Bytes that contexts store per token for the operator: the f32 row that it reads.
uint64_t kept_row_bytes(const fb::Model& model, const fb::Op& op);

/// Copies the tile's rows that the operator reads, which the step has written, into their contexts.
void keep_rows(const TileRun& run, const fb::Op& op);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_PREVIOUS_H_
