// What sessions know of tokens beside their neighbours: what contexts keep for them.
#ifndef BANTAM_OPS_UNFOLD_H_
#define BANTAM_OPS_UNFOLD_H_

#include "ops/ops.h"

namespace bantam::ops {

/// Does the op read rows of tokens in front, which contexts keep? It is an Unfold.
inline bool keeps_unfolded(const fb::Op& op) { return op.attributes_as_Unfold()->before() != 0; }

/// The tensor by whose number they are kept: what the op writes.
inline int32_t kept_number(const fb::Op& op) {
  const int32_t rows = operand(op.outputs(), 0);
  return rows >= 0 ? rows : operand(op.outputs(), 1);
}

/// Bytes that contexts keep of each token for the op: the f32 row that it reads.
uint64_t kept_unfolded_bytes(const fb::Model& model, const fb::Op& op);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_UNFOLD_H_
