// Scans, as sessions need them: the size of the state that contexts keep.
#ifndef BANTAM_OPS_MORE_SCAN_H_
#define BANTAM_OPS_MORE_SCAN_H_

#include "ops/ops.h"

namespace bantam::ops {

/// Returns the bytes of a sequence's state behind a token: `states` rows of f32, each of the output's width rounded up
/// to 16.
uint64_t scan_state_bytes(const fb::Model& model, const fb::Op& op);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_SCAN_H_
