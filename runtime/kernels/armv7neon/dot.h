// 32-bit ARM with NEON: int8 dot products use NEON, in integers; f32 uses VFP's scalar instructions, one lane at a
// time, because NEON's f32 flushes subnormal numbers to zero. Compiled as armv7neon/, with the fma of soft_float.h
// (VFPv3: Cortex-A8, A9), and as armv7fma/ (VFPv4).
#ifndef BANTAM_KERNELS_ARMV7NEON_DOT_H_
#define BANTAM_KERNELS_ARMV7NEON_DOT_H_

#include <arm_neon.h>

#define BANTAM_KERNEL_ONE_LANE
#include "kernels/reference/vector.h"
// Vectors must be included first.
#include "kernels/generic/dot_sums.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0;

/// acc[2 * j + h]: outputs 4 j + 2 h and the next, two sums each, for k % 4 < 2 and for the others, over two tiles w.
/// Two products of int8 fit in s16: 2 * 127 * 127; an activation of -128 occurs only in padding, where weights are 0.
BANTAM_INLINE void add_two(int32x4_t (&acc)[8], const int8_t* x, const int8_t* w) {
  const int32x2_t both = vreinterpret_s32_s8(vld1_s8(x));
  const int8x8_t first = vreinterpret_s8_s32(vdup_lane_s32(both, 0));
  const int8x8_t second = vreinterpret_s8_s32(vdup_lane_s32(both, 1));
  const int8_t* next = w + 64;
  BANTAM_UNROLL
  for (uint32_t j = 0; j < 4; ++j, w += 16, next += 16) {
    const int8x16_t a = vld1q_s8(w);
    const int8x16_t b = vld1q_s8(next);
    const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(a), first), vget_low_s8(b), second);
    const int16x8_t high = vmlal_s8(vmull_s8(vget_high_s8(a), first), vget_high_s8(b), second);
    acc[2 * j] = vpadalq_s16(acc[2 * j], low);
    acc[2 * j + 1] = vpadalq_s16(acc[2 * j + 1], high);
  }
}
/// One tile; x as s16: four numbers, repeated. A product of a u8 and a weight fits in s16, but not two of them.
BANTAM_INLINE void add_one(int32x4_t (&acc)[8], int16x8_t x, const int8_t* w) {
  BANTAM_UNROLL
  for (uint32_t j = 0; j < 4; ++j, w += 16) {
    const int8x16_t weights = vld1q_s8(w);
    acc[2 * j] = vpadalq_s16(acc[2 * j], vmulq_s16(vmovl_s8(vget_low_s8(weights)), x));
    acc[2 * j + 1] = vpadalq_s16(acc[2 * j + 1], vmulq_s16(vmovl_s8(vget_high_s8(weights)), x));
  }
}
BANTAM_INLINE int32x2_t broadcast(const void* p) {
  int32_t four;
  memcpy(&four, p, 4);
  return vdup_n_s32(four);
}
BANTAM_INLINE void add_one(int32x4_t (&acc)[8], const int8_t* x, const int8_t* w) {
  add_one(acc, vmovl_s8(vreinterpret_s8_s32(broadcast(x))), w);
}
BANTAM_INLINE void add_one(int32x4_t (&acc)[8], const uint8_t* u, const int8_t* w) {
  add_one(acc, vreinterpretq_s16_u16(vmovl_u8(vreinterpret_u8_s32(broadcast(u)))), w);
}

/// Multiplies one row by one panel: 8 of 16 registers hold sums.
template <class Stored>
BANTAM_NOINLINE void dot_panel(const Stored* x, const int8_t* w, uint32_t quads, Sum* sums, bool add) {
  int32x4_t acc[8];
  BANTAM_UNROLL
  for (uint32_t i = 0; i < 8; ++i) acc[i] = vdupq_n_s32(0);
  if constexpr (static_cast<Stored>(-1) < 0) {
    for (; quads >= 2; quads -= 2, x += 8, w += 128) add_two(acc, x, w);
  }
  for (; quads != 0; --quads, x += 4, w += 64) add_one(acc, x, w);
  BANTAM_UNROLL
  for (uint32_t j = 0; j < 4; ++j) {
    const int32x4_t low = acc[2 * j];
    const int32x4_t high = acc[2 * j + 1];
    int32_t* to = reinterpret_cast<int32_t*>(sums + 4 * j);
    int32x4_t found = vcombine_s32(vpadd_s32(vget_low_s32(low), vget_high_s32(low)),
                                   vpadd_s32(vget_low_s32(high), vget_high_s32(high)));
    if (add) found = vaddq_s32(found, vld1q_s32(to));
    vst1q_s32(to, found);
  }
}

template <class Stored>
inline void dot_block(const Stored* x, const DotBlock& a) {
  for (uint32_t p = 0; p < a.panels; ++p) {
    for (uint32_t r = 0; r < a.rows; ++r) {
      dot_panel(x + r * a.x_stride, a.w + p * a.panel_stride, a.quads, a.sums + r * a.sums_stride + p * 16, a.add);
    }
  }
}

constexpr uint32_t kMaxRows = 1;
constexpr uint32_t kMaxRowsF32 = 1;
constexpr uint32_t block_panels_f32(uint32_t) { return 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_ARMV7NEON_DOT_H_
