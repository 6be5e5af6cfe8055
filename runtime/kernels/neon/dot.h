// int8 dot product without sdot: smull and smlal compute 16-bit sums of two products, over two quads, and sadalp adds
// adjacent ones to 32-bit sums: 1.5 instructions for eight products. A sum of two products must fit in s16.
#ifndef BANTAM_KERNELS_NEON_DOT_H_
#define BANTAM_KERNELS_NEON_DOT_H_

#include "kernels/neon/ints.h"
#include "kernels/neon/row_sums.h"
// Vectors must be included first.
#include "kernels/generic/blocks.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0;
constexpr bool kOffsetInDots = false;

/// See generic/quad_block.h.
template <uint32_t kRows, uint32_t kPanels>
struct RegisterBlock {
  /// [2 * j + h]: outputs 4 j + 2 h and the next, two sums each: for k % 4 < 2 and for the others.
  int32x4_t acc[kRows][kPanels][8];

  BANTAM_INLINE void clear() { clear_sums(acc); }
  BANTAM_INLINE void start(const int32_t (&)[kRows]) { clear(); }

  BANTAM_INLINE void add_keys(const int8_t* x, size_t x_stride, const int8_t* keys, size_t stride, uint32_t quads) {
    add(x, x_stride, keys, stride, quads);
  }
  template <class... MaybeAhead>
  BANTAM_INLINE void add(const int8_t* x, size_t x_stride, const int8_t* w, size_t w_stride, uint32_t quads,
                         MaybeAhead... ahead) {
    static_assert(kPanels == 1, "see block_panels");
    (void)w_stride;
    if constexpr (kRows <= 2) {
      add_columns<0, 4>(x, x_stride, w, quads, ahead...);
    } else {
      add_columns<0, 2>(x, x_stride, w, quads, ahead...);
      add_columns<2, 2>(x, x_stride, w, quads);
    }
  }

  /// A product of a u8 and a weight fits in s16, but not two of them.
  BANTAM_INLINE void add_page(const uint8_t* u, size_t u_stride, const int8_t* w, size_t) {
    for (uint32_t quad = 0; quad < 4; ++quad, u += 4, w += 64) {
      int16x8_t rows[kRows];
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        rows[r] = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(vreinterpretq_u8_s8(broadcast(u + r * u_stride)))));
      }
      BANTAM_UNROLL
      for (uint32_t j = 0; j < 4; ++j) {
        const int8x16_t weights = vld1q_s8(w + j * 16);
        const int16x8_t low = vmovl_s8(vget_low_s8(weights));
        const int16x8_t high = vmovl_high_s8(weights);
        BANTAM_UNROLL
        for (uint32_t r = 0; r < kRows; ++r) {
          acc[r][0][2 * j] = vpadalq_s16(acc[r][0][2 * j], vmulq_s16(low, rows[r]));
          acc[r][0][2 * j + 1] = vpadalq_s16(acc[r][0][2 * j + 1], vmulq_s16(high, rows[r]));
        }
      }
    }
  }

  BANTAM_INLINE I32x16 get(uint32_t r, uint32_t p) const {
    I32x16 sums;
    BANTAM_UNROLL
    for (uint32_t j = 0; j < 4; ++j) sums.v[j] = vpaddq_s32(acc[r][p][2 * j], acc[r][p][2 * j + 1]);
    return sums;
  }

 private:
  /// Four bytes in every 32-bit lane.
  static BANTAM_INLINE int8x16_t broadcast(const void* p) {
    int32_t four;
    memcpy(&four, p, 4);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
  }

  /// Adds to outputs [4 * kFirst, 4 * (kFirst + kCount)): as many sums as the registers hold.
  template <uint32_t kFirst, uint32_t kCount, class... MaybeAhead>
  BANTAM_INLINE void add_columns(const int8_t* x, size_t x_stride, const int8_t* w, uint32_t quads,
                                 MaybeAhead... ahead) {
    for (; quads >= 2; quads -= 2, x += 8, w += 128) {
      int8x16_t rows[kRows][2];
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        int32x2_t two = vreinterpret_s32_s8(vld1_s8(x + r * x_stride));
        __asm__("" : "+w"(two));  // without this, gcc loads each half separately
        rows[r][0] = vreinterpretq_s8_s32(vdupq_lane_s32(two, 0));
        rows[r][1] = vreinterpretq_s8_s32(vdupq_lane_s32(two, 1));
      }
      BANTAM_UNROLL
      for (uint32_t j = kFirst; j < kFirst + kCount; ++j) {
        const int8x16_t first = vld1q_s8(w + j * 16);
        const int8x16_t second = vld1q_s8(w + 64 + j * 16);
        BANTAM_UNROLL
        for (uint32_t r = 0; r < kRows; ++r) {
          // 2 * 127 * 127; an activation of -128 occurs only in padding, where weights are 0.
          const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(first), vget_low_s8(rows[r][0])), vget_low_s8(second),
                                         vget_low_s8(rows[r][1]));
          const int16x8_t high = vmlal_high_s8(vmull_high_s8(first, rows[r][0]), second, rows[r][1]);
          acc[r][0][2 * j] = vpadalq_s16(acc[r][0][2 * j], low);
          acc[r][0][2 * j + 1] = vpadalq_s16(acc[r][0][2 * j + 1], high);
        }
      }
      (fetch_line(ahead), ...);
      (fetch_line(ahead), ...);
    }
    if (quads == 0) return;
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      const int8x16_t row = broadcast(x + r * x_stride);
      BANTAM_UNROLL
      for (uint32_t j = kFirst; j < kFirst + kCount; ++j) {
        const int8x16_t weights = vld1q_s8(w + j * 16);
        acc[r][0][2 * j] = vpadalq_s16(acc[r][0][2 * j], vmull_s8(vget_low_s8(weights), vget_low_s8(row)));
        acc[r][0][2 * j + 1] = vpadalq_s16(acc[r][0][2 * j + 1], vmull_high_s8(weights, row));
      }
    }
  }
};

// 4 rows by half a panel: 16 sums, 8 activations, 2 weights, 2 products of 32 registers.
constexpr uint32_t kMaxRows = 4;
constexpr uint32_t block_panels(uint32_t) { return 1; }
constexpr uint32_t kMaxRowsF32 = 6;
constexpr uint32_t block_panels_f32(uint32_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_NEON_DOT_H_
