// Vectors of four lanes in Helium registers; reference/vector.h defines each operation. Helium flushes numbers below
// 2^-126 to zero, operands as well as results, and reports it in FPSCR (Armv8-M Architecture Reference Manual,
// FPSCR.IDC and UFC); all other results equal the reference's bit by bit: see TinyNumbers.
#ifndef BANTAM_KERNELS_MVE_VECTOR_H_
#define BANTAM_KERNELS_MVE_VECTOR_H_

#include <arm_mve.h>

#include "kernels/generic/soft_float.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

#define BANTAM_KERNEL_FLUSHES_TINY
constexpr bool kFlushesTiny = true;

// ---- memory
BANTAM_TINY float32x4_t load(const float* p) { return vldrwq_f32(p); }
BANTAM_TINY void store(float* p, float32x4_t a) { vstrwq_f32(p, a); }
BANTAM_TINY int32x4_t load(const int32_t* p) { return vldrwq_s32(p); }
BANTAM_TINY void store(int32_t* p, int32x4_t a) { vstrwq_s32(p, a); }
BANTAM_TINY float32x4_t load_first(const float* p, uint32_t n) { return vldrwq_z_f32(p, vctp32q(n)); }
BANTAM_TINY void store_first(float* p, float32x4_t a, uint32_t n) { vstrwq_p_f32(p, a, vctp32q(n)); }
inline float32x4_t load_f16(const uint16_t* p) {
  const float four[4] = {soft_f16(p[0]), soft_f16(p[1]), soft_f16(p[2]), soft_f16(p[3])};
  return load(four);
}
BANTAM_TINY int32x4_t load_i8(const int8_t* p) { return vldrbq_s32(p); }
BANTAM_TINY void store_bytes(void* p, int32x4_t a) { vstrbq_s32(static_cast<int8_t*>(p), a); }

// ---- tables of 16
struct Table16 {
  const float* v;
};
BANTAM_TINY Table16 load_table(const float (&t)[16]) { return {t}; }
BANTAM_TINY float32x4_t lookup(Table16 t, int32x4_t index) {
  return vldrwq_gather_shifted_offset_f32(t.v, vreinterpretq_u32_s32(vandq_s32(index, vdupq_n_s32(15))));
}

// ---- construction
BANTAM_TINY float32x4_t splat(float a) { return vdupq_n_f32(a); }
BANTAM_TINY int32x4_t splat(int32_t a) { return vdupq_n_s32(a); }

// ---- lane-wise arithmetic
BANTAM_TINY float32x4_t fma(float32x4_t a, float32x4_t b, float32x4_t c) { return vfmaq_f32(c, a, b); }
BANTAM_TINY float32x4_t min(float32x4_t a, float32x4_t b) { return vpselq_f32(a, b, vcmpltq_f32(a, b)); }
BANTAM_TINY float32x4_t max(float32x4_t a, float32x4_t b) { return vpselq_f32(a, b, vcmpgtq_f32(a, b)); }
BANTAM_TINY int32x4_t max(int32x4_t a, int32x4_t b) { return vmaxq_s32(a, b); }
BANTAM_TINY float32x4_t to_f32(int32x4_t a) { return vcvtq_f32_s32(a); }

BANTAM_TINY int32x4_t bits(float32x4_t a) { return vreinterpretq_s32_f32(a); }
BANTAM_TINY float32x4_t from_bits(int32x4_t a) { return vreinterpretq_f32_s32(a); }
BANTAM_TINY float32x4_t magnitude(float32x4_t a) { return vabsq_f32(a); }
BANTAM_TINY int32x4_t magnitude_bits(float32x4_t a) { return bits(magnitude(a)); }
BANTAM_TINY int32x4_t round_to_i32(float32x4_t a) { return vsubq_n_s32(bits(vaddq_n_f32(a, 12582912.0f)), 0x4b400000); }
BANTAM_TINY float32x4_t low_bits_to_power(int32x4_t a) { return from_bits(vshlq_n_s32(a, 23)); }

// ---- masks
BANTAM_TINY mve_pred16_t less(float32x4_t a, float32x4_t b) { return vcmpltq_f32(a, b); }
BANTAM_TINY mve_pred16_t lanes_between(int32_t begin, int32_t end) {
  const auto first = static_cast<uint32_t>(begin < 0 ? 0 : begin);
  const auto last = static_cast<uint32_t>(end < 0 ? 0 : end);
  return static_cast<mve_pred16_t>(vctp32q(last) & ~vctp32q(first));
}
BANTAM_TINY float32x4_t select(mve_pred16_t m, float32x4_t on, float32x4_t off) { return vpselq_f32(on, off, m); }
BANTAM_TINY float32x4_t keep(mve_pred16_t m, float32x4_t a) { return select(m, a, splat(0.0f)); }

// ---- across lanes
BANTAM_TINY int32_t sum(int32x4_t a) { return vaddvq_s32(a); }
BANTAM_TINY float largest(float32x4_t a) { return vmaxnmvq_f32(-__builtin_inff(), a); }
BANTAM_TINY int32_t largest(int32x4_t a) { return vmaxvq_s32(INT32_MIN, a); }

constexpr bool kFoldsEight = false;

/// Detects whether a number below 2^-126 was flushed to zero since the object was created. The computation to check
/// must read memory after that and produce `result`, so that compilers keep the order.
class TinyNumbers {
 public:
  BANTAM_TINY TinyNumbers() {
    const uint32_t none = status() & ~kFlags;
    __asm__ volatile("vmsr fpscr, %0" : : "r"(none) : "memory");
  }
  BANTAM_TINY bool seen(int32_t result) const {
    __asm__ volatile("" : : "r"(result) : "memory");
    return (status() & kFlags) != 0;
  }

 private:
  static constexpr uint32_t kFlags = 1u << 7 | 1u << 3;  // IDC, UFC
  static BANTAM_TINY uint32_t status() {
    uint32_t value;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(value) : : "memory");
    return value;
  }
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_MVE_VECTOR_H_
