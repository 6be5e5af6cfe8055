// The number of lanes of this instruction set's vectors, and constants derived from it. Kernels work with 16, 4, or 1
// lane; with 1, on processors without vectors, a vector is a number and passes over a row are plain loops.
#ifndef BANTAM_KERNELS_GENERIC_LANES_H_
#define BANTAM_KERNELS_GENERIC_LANES_H_

#include "kernels/generic/config.h"
#include "linked.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

using F32 = decltype(splat(0.0f));
using I32 = decltype(splat(int32_t{0}));
using LaneMask = decltype(less(splat(0.0f), splat(0.0f)));

// NOLINTNEXTLINE(bugprone-sizeof-expression): with one lane the vector is a float.
constexpr uint32_t kLanes = sizeof(F32) / sizeof(float);
static_assert(kLanes == 1 || kLanes == 4 || kLanes == 16, "all 16 elements of a panel or page, or parts of them");
/// Number of vectors for 16 adjacent elements: the outputs of a panel of weights, the rows of a page, the partial sums
/// of a row.
constexpr uint32_t kVectors = 16 / kLanes;

/// Calls f(lane) for the first lane of each vector of 16 adjacent elements. Not a loop if there is only one vector: a
/// loop around others keeps compilers from putting arrays in registers.
template <class F>
BANTAM_INLINE void for_sixteen(const F& f) {
  if constexpr (kVectors == 1) {
    f(0u);
  } else {
    for (uint32_t lane = 0; lane < 16; lane += kLanes) f(lane);
  }
}

/// Correctly rounded: an instruction, or the C library's sqrtf, which computes bit by bit.
BANTAM_TINY float square_root(float a) { return __builtin_sqrtf(a); }

/// An int32 in memory that also holds floats at other times.
using Sum = int32_t __attribute__((may_alias));

/// The sum over a row as kernels.h defines it: element i belongs to partial sum i % 16, which is a lane if there are
/// 16. A missing element adds nothing, which equals adding +0, because no partial sum is -0.
struct PartialSums {
  F32 part[kVectors];
};
template <uint32_t kCount>
struct SumsOf {
  using Type = PartialSums;
};
template <>
struct SumsOf<1> {
  using Type = F32;
};
using Sums = SumsOf<kVectors>::Type;

/// The partial sums that elements i, i + 1, ... belong to; i must be a multiple of kLanes.
BANTAM_TINY F32& partial(PartialSums& sums, uint32_t i) { return sums.part[i % 16 / kLanes]; }
BANTAM_TINY F32& partial(F32& sums, uint32_t) { return sums; }

/// Returns the total by the fixed tree.
template <class SomeSums>
BANTAM_INLINE float total(const SomeSums& sums) {
  if constexpr (kVectors == 1) {
    return sum(sums);
  } else {
    float t[8];
    for (uint32_t i = 0; i < kVectors / 2; ++i) store(t + i * kLanes, sums.part[i] + sums.part[i + kVectors / 2]);
    for (uint32_t step = 4; step != 0; step /= 2) {
      for (uint32_t i = 0; i < step; ++i) t[i] = t[i] + t[i + step];
    }
    return t[0];
  }
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_LANES_H_
