// Recurrent layers, as sessions need them: whether contexts can store their state, and its size.
#ifndef BANTAM_OPS_MORE_RECURRENT_H_
#define BANTAM_OPS_MORE_RECURRENT_H_

#include "ops/ops.h"

namespace bantam::ops {

/// Returns the bytes that contexts store per token for the layer `op`: the f32 state after that token, and its cells. A
/// truncated context continues from the row of its last token.
uint64_t kept_state_bytes(const fb::Model& model, const fb::Op& op);

/// Returns true if the layer `op` runs forward over a sequence and skips no token.
bool goes_on(const fb::Op& op);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_RECURRENT_H_
