// Limits of the operator Select.
#ifndef BANTAM_OPS_MORE_SELECT_H_
#define BANTAM_OPS_MORE_SELECT_H_

#include <stdint.h>

namespace bantam::ops {

/// Rows below so many ranks are selected: each takes a look at all scores of the sequence.
constexpr uint32_t kMostRanks = 64;

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_SELECT_H_
