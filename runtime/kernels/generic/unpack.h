// Unpacks weights of other layouts to int8 tiles.
#ifndef BANTAM_KERNELS_GENERIC_UNPACK_H_
#define BANTAM_KERNELS_GENERIC_UNPACK_H_

#include "kernels/generic/unpack_bits.h"
#include "kernels/generic/unpack_int4.h"
#include "kernels/generic/unpack_ternary.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Panels, and pieces of a panel, must be taken in order: each piece of a bitmask's weights begins where the preceding
/// one ended.
class Unpacker {
 public:
  explicit Unpacker(const LinearQ8& layer) : a_(layer), next_(layer.w) {}

  static bool wanted(const LinearQ8& a) {
    return (linked::kInt4 && a.factors != nullptr) || (linked::kTernary && a.ternary) ||
           (linked::kBitmask && a.masks != nullptr);
  }

  /// out[k/4][16][4] = the weights of outputs [16 * panel, + 16) and inputs [first, first + count); `first` is a
  /// multiple of 16; for int4 weights there are pad8(count) inputs, for ternary ones pad16(count).
  void take(uint32_t panel, uint32_t first, uint32_t count, int8_t* out) {
    if (linked::kInt4 && ((!linked::kTernary && !linked::kBitmask) || a_.factors != nullptr)) {
      unpack_int4(a_, panel, first, count, out);
    } else if (linked::kTernary && (!linked::kBitmask || a_.ternary)) {
      unpack_ternary(a_, panel, first, count, out);
    } else if (linked::kBitmask) {
      next_ = unpack_bits(a_.masks + size_t{panel} * (a_.k / 4) + first / 4, count / 4, next_, out);
    }
  }

 private:
  const LinearQ8& a_;
  const int8_t* next_;
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_UNPACK_H_
