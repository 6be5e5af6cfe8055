// Coefficients of gelu in generic/math.h: a constant that all instruction sets in an image share.
#ifndef BANTAM_KERNELS_GELU_TABLE_H_
#define BANTAM_KERNELS_GELU_TABLE_H_

namespace bantam::kernels {

/// Number of intervals per unit of |x|.
constexpr float kGeluPerUnit = 2.71028042f;
/// Row i: coefficients of t^i on each of 16 intervals.
extern const float kGeluTable[5][16];
/// The same by interval.
extern const struct GeluColumn { float power[5]; } kGeluColumns[16];

}  // namespace bantam::kernels

#endif  // BANTAM_KERNELS_GELU_TABLE_H_
