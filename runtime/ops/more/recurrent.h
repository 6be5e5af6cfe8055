// What sessions know of recurrent layers: whether contexts can keep them, and what.
#ifndef BANTAM_OPS_MORE_RECURRENT_H_
#define BANTAM_OPS_MORE_RECURRENT_H_

#include "ops/ops.h"

namespace bantam::ops {

/// Bytes that contexts keep of each token that has gone through the layer `op`: its state behind that token, f32, and its cells. A context
/// that is cut goes on from the row of its last token.
uint64_t kept_state_bytes(const fb::Model& model, const fb::Op& op);

/// The layer `op` goes from a sequence's first token to its last one, and leaves none out.
bool goes_on(const fb::Op& op);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_RECURRENT_H_
