// Recurrent layers, as sessions see them: whether contexts can keep their state, and how many bytes it takes.
#ifndef BANTAM_OPS_MORE_RECURRENT_H_
#define BANTAM_OPS_MORE_RECURRENT_H_

#include "ops/ops.h"

namespace bantam::ops {

/// Returns the bytes that contexts keep for each token which has gone through the layer `op`: the f32 state behind that
/// token, and its cells. A context that was cut continues from the row of its last token.
uint64_t kept_state_bytes(const fb::Model& model, const fb::Op& op);

/// The layer `op` goes from a sequence's first token to its last one, and leaves none out.
bool goes_on(const fb::Op& op);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_RECURRENT_H_
