// int8 dot product with sdot: four weights of each of four outputs by four activations of one row, which are one lane
// of a register with 16 activations.
#ifndef BANTAM_KERNELS_NEONDOT_LANE_BLOCK_H_
#define BANTAM_KERNELS_NEONDOT_LANE_BLOCK_H_

#include "kernels/neon/vector.h"
// Vectors must be included first.
#include "kernels/generic/blocks.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// A RegisterBlock: see generic/quad_block.h.
template <uint32_t kRows, uint32_t kPanels>
struct LaneBlock {
  int32x4_t acc[kRows][kPanels][4];
  /// Sums of the weights that were multiplied by probabilities: sdot takes these as p - 128.
  int32x4_t weight_sums[1][kPanels][4];

  BANTAM_INLINE void clear() {
    clear_sums(weight_sums);
    clear_sums(acc);
  }
  BANTAM_INLINE void start(const int32_t (&)[kRows]) { clear(); }

  BANTAM_INLINE void add_keys(const int8_t* x, size_t x_stride, const int8_t* keys, size_t stride, uint32_t quads) {
    add(x, x_stride, keys, stride, quads);
  }
  template <class... MaybeAhead>
  BANTAM_INLINE void add(const int8_t* x, size_t x_stride, const int8_t* w, size_t w_stride, uint32_t quads,
                         MaybeAhead... ahead) {
    if constexpr (kRows <= 4) {
      add_columns<0, 4>(x, x_stride, w, w_stride, quads, ahead...);
    } else {
      add_columns<0, 2>(x, x_stride, w, w_stride, quads, ahead...);
      add_columns<2, 2>(x, x_stride, w, w_stride, quads);
    }
  }

  BANTAM_INLINE void add_page(const uint8_t* u, size_t u_stride, const int8_t* w, size_t w_stride) {
    int8x16_t rows[kRows];
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      rows[r] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(u + r * u_stride), vdupq_n_u8(0x80)));
    }
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) {
      BANTAM_UNROLL
      for (uint32_t i = 0; i < 16; ++i) {
        weight_sums[0][p][i % 4] =
            vdotq_s32(weight_sums[0][p][i % 4], vld1q_s8(w + p * w_stride + i * 16), vdupq_n_s8(1));
      }
    }
    add_quads<0, 4>(rows, w, w_stride);
  }

  BANTAM_INLINE I32x16 get(uint32_t r, uint32_t p) const {
    I32x16 sums;
    BANTAM_UNROLL
    for (uint32_t j = 0; j < 4; ++j) sums.v[j] = vaddq_s32(acc[r][p][j], vshlq_n_s32(weight_sums[0][p][j], 7));
    return sums;
  }

 private:
  /// Adds to outputs [4 * kFirst, 4 * (kFirst + kCount)) of each panel: as many sums as the registers hold.
  template <uint32_t kFirst, uint32_t kCount, class... MaybeAhead>
  BANTAM_INLINE void add_columns(const int8_t* x, size_t x_stride, const int8_t* w, size_t w_stride, uint32_t quads,
                                 MaybeAhead... ahead) {
    for (; quads >= 4; quads -= 4, x += 16, w += 256) {
      int8x16_t rows[kRows];
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) rows[r] = vld1q_s8(x + r * x_stride);
      add_quads<kFirst, kCount>(rows, w, w_stride, ahead...);
    }
    for (; quads != 0; --quads, x += 4, w += 64) {
      int8x16_t rows[kRows];
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        int32_t four;
        memcpy(&four, x + r * x_stride, 4);
        rows[r] = vreinterpretq_s8_s32(vdupq_n_s32(four));
      }
      add_lane<kFirst, kCount, 0>(rows, w, w_stride);
    }
  }
  template <uint32_t kFirst, uint32_t kCount, class... MaybeAhead>
  BANTAM_INLINE void add_quads(const int8x16_t (&rows)[kRows], const int8_t* w, size_t w_stride, MaybeAhead&... ahead) {
    add_lane<kFirst, kCount, 0>(rows, w, w_stride);
    (fetch_line(ahead), ...);
    add_lane<kFirst, kCount, 1>(rows, w + 64, w_stride);
    (fetch_line(ahead), ...);
    add_lane<kFirst, kCount, 2>(rows, w + 128, w_stride);
    (fetch_line(ahead), ...);
    add_lane<kFirst, kCount, 3>(rows, w + 192, w_stride);
    (fetch_line(ahead), ...);
  }
  /// For one row and several panels, there is only one product per load to hide its latency, and in-order cores would
  /// wait for every load: so all loads are issued before the first result is used. gcc would load them one by one.
  template <uint32_t kFirst, uint32_t kCount, int kLane>
  static BANTAM_INLINE void add_one_row(int32x4_t (&sums)[4], int8x16_t row, const int8_t* w) {
    int8x16_t weights[kCount];
    BANTAM_UNROLL
    for (uint32_t j = 0; j < kCount; ++j) {
      weights[j] = vld1q_s8(w + (kFirst + j) * 16);
      __asm__("" : "+w"(weights[j]));
    }
    BANTAM_UNROLL
    for (uint32_t j = 0; j < kCount; ++j) sums[kFirst + j] = vdotq_laneq_s32(sums[kFirst + j], weights[j], row, kLane);
  }
  template <uint32_t kFirst, uint32_t kCount, int kLane>
  BANTAM_INLINE void add_lane(const int8x16_t (&rows)[kRows], const int8_t* w, size_t w_stride) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) {
      if constexpr (kRows == 1 && kPanels != 1) {
        add_one_row<kFirst, kCount, kLane>(acc[0][p], rows[0], w + p * w_stride);
        continue;
      }
      BANTAM_UNROLL
      for (uint32_t j = kFirst; j < kFirst + kCount; ++j) {
        const int8x16_t weights = vld1q_s8(w + p * w_stride + j * 16);
        BANTAM_UNROLL
        for (uint32_t r = 0; r < kRows; ++r) acc[r][p][j] = vdotq_laneq_s32(acc[r][p][j], weights, rows[r], kLane);
      }
    }
  }
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_NEONDOT_LANE_BLOCK_H_
