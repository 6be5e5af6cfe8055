// linear_q8 on one lane: the sums of all rows and outputs lie in y until they become values, so a block of dot products is
// as large as the processor's registers like it.
#ifndef BANTAM_KERNELS_GENERIC_LINEAR_SUMS_H_
#define BANTAM_KERNELS_GENERIC_LINEAR_SUMS_H_

#include "kernels/generic/linear.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

inline bool linear_q8(const LinearQ8& a) {
  if constexpr (!linked::kDynamic) return false;
  if (a.k16) return linear_k16(a);
  dot_block(reinterpret_cast<const int8_t*>(a.x), {a.x_stride, a.rows, a.w, size_t{a.k} * 16, a.n / 16, a.k / 4,
                                                   reinterpret_cast<Sum*>(a.y), a.y_stride, false});
  return dequantize_rows(a);
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_LINEAR_SUMS_H_
