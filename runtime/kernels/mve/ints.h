// Four int32 in a Helium register, for the static kernels; generic/static_ints.h defines each operation.
#ifndef BANTAM_KERNELS_MVE_INTS_H_
#define BANTAM_KERNELS_MVE_INTS_H_

#include <arm_mve.h>

#include "kernels/generic/config.h"

#define BANTAM_KERNEL_OWN_INTS

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

using Ints = int32x4_t;
constexpr uint32_t kIntLanes = 4;

BANTAM_TINY Ints load_ints(const int8_t* p) { return vldrbq_s32(p); }
BANTAM_TINY Ints load_ints(const int16_t* p) { return vldrhq_s32(p); }
BANTAM_TINY Ints load_ints(const int32_t* p) { return vldrwq_s32(p); }
BANTAM_TINY void store_ints(int8_t* p, Ints v) { vstrbq_s32(p, v); }
BANTAM_TINY void store_ints(int16_t* p, Ints v) { vstrhq_s32(p, v); }
BANTAM_TINY void store_ints(int32_t* p, Ints v) { vstrwq_s32(p, v); }
BANTAM_TINY Ints lookup_ints(const int8_t* table, Ints v) {
  return vldrbq_gather_offset_s32(table, vreinterpretq_u32_s32(vaddq_n_s32(v, 128)));
}
using Factors = Ints;
BANTAM_TINY Factors load_factors(const int16_t* p) { return vldrhq_s32(p); }
BANTAM_TINY Factors splat_factor(int32_t a) { return vdupq_n_s32(a); }
BANTAM_TINY Ints splat_ints(int32_t a) { return vdupq_n_s32(a); }
BANTAM_TINY Ints plus(Ints a, Ints b) { return vaddq_s32(a, b); }
BANTAM_TINY Ints minus(Ints a, int32_t b) { return vsubq_n_s32(a, b); }
BANTAM_TINY Ints multiply_add(Ints a, Ints b, int32_t c) { return vmlasq_n_s32(a, b, c); }
BANTAM_TINY Ints sat16(Ints v) { return vmovlbq_s16(vqmovnbq_s32(vreinterpretq_s16_s32(v), v)); }
BANTAM_TINY Ints sat8(Ints v) { return vminq_s32(vmaxq_s32(v, vdupq_n_s32(-127)), vdupq_n_s32(127)); }
BANTAM_TINY Ints byte_range(Ints v) { return vminq_s32(vmaxq_s32(v, vdupq_n_s32(-128)), vdupq_n_s32(127)); }
BANTAM_TINY Ints flip(Ints v, int32_t) { return v; }
using IntTotal = int32_t;
BANTAM_TINY IntTotal no_ints() { return 0; }
BANTAM_TINY IntTotal add_lanes(IntTotal total, Ints v) { return vaddvaq_s32(total, v); }
BANTAM_TINY int32_t total_of(IntTotal total) { return total; }
using SquareTotal = uint64_t;
BANTAM_TINY SquareTotal no_squares() { return 0; }
BANTAM_TINY uint64_t total_of(SquareTotal total) { return total; }
BANTAM_TINY SquareTotal add_squares(SquareTotal total, Ints v) {
  return static_cast<uint64_t>(vmlaldavaq_s32(static_cast<int64_t>(total), v, v));
}
struct RoundShift {
  int32_t half;
  int32x4_t left;
  BANTAM_TINY explicit RoundShift(uint32_t by)
      : half(static_cast<int32_t>((uint32_t{1} << by) >> 1)), left(vdupq_n_s32(-static_cast<int32_t>(by))) {}
  // VRSHL rounds without wrapping, unlike this definition.
  BANTAM_TINY Ints operator()(Ints v) const { return down(vaddq_n_s32(v, half)); }
  BANTAM_TINY Ints down(Ints v) const { return vshlq_s32(v, left); }
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_MVE_INTS_H_
