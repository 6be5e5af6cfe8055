// The natural logarithm of f32 numbers, with the same bits on every machine.
#ifndef BANTAM_OPS_MORE_LOGARITHM_H_
#define BANTAM_OPS_MORE_LOGARITHM_H_

namespace bantam::ops {

/// ln x of normal numbers x above 0, with relative error <= 2e-7; exactly 0 for x = 1.
float natural_log(float x);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_LOGARITHM_H_
