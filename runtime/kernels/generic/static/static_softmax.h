// Softmax in integers, one number at a time; lanes compute the same.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_STATIC_SOFTMAX_H_
#define BANTAM_KERNELS_GENERIC_STATIC_STATIC_SOFTMAX_H_

#include "kernels/generic/static/static_rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// 2^(-u / 2^26) * 2^15, with relative error below 1.5e-4 (scripts/derive_coefficients.py) before the last shift, is a
/// cubic in the fraction of u / 2^26, taken as 15 bits.
constexpr int32_t kStaticExp2[4] = {-1294, 7569, -22659, 32768};

BANTAM_INLINE int32_t static_exp2(uint32_t u) {
  const auto f = static_cast<int32_t>((u >> 11) & 0x7fff);
  int32_t p = (kStaticExp2[0] * f >> 15) + kStaticExp2[1];
  p = (p * f >> 15) + kStaticExp2[2];
  p = (p * f >> 15) + kStaticExp2[3];
  return p >> (u >> 26);
}

/// The factor and the shift that convert sums of weighted values to their mean.
struct StaticMean {
  int32_t factor;
  uint32_t total_bits;

  /// `total`: the sum of the weights; 0: there were no weights.
  BANTAM_INLINE explicit StaticMean(uint32_t total) : factor(0), total_bits(8) {
    if (total == 0) return;
    while (total >> total_bits != 0) ++total_bits;
    const uint32_t scaled = total_bits <= 16 ? total << (16 - total_bits) : total >> (total_bits - 16);
    factor = static_cast<int32_t>((uint32_t{1} << 30) / scaled);
  }
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_STATIC_SOFTMAX_H_
