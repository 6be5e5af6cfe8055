// Limits of the operator Select.
#ifndef BANTAM_OPS_MORE_SELECT_H_
#define BANTAM_OPS_MORE_SELECT_H_

#include <stdint.h>

namespace bantam::ops {

/// Ranks are less than this: each rank takes a pass over all scores of the sequence.
constexpr uint32_t kMostRanks = 64;

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_SELECT_H_
