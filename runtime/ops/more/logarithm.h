// The natural logarithm of f32 numbers, the same bits everywhere.
#ifndef BANTAM_OPS_MORE_LOGARITHM_H_
#define BANTAM_OPS_MORE_LOGARITHM_H_

namespace bantam::ops {

/// ln x of normal numbers x above 0: relative error <= 2e-7 up to 4, and beyond; 0 where x is 1.
float natural_log(float x);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_LOGARITHM_H_
