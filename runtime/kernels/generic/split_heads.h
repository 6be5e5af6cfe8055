// split_heads: cuts rows [q | k | v] into heads, quantises each, and scatters keys and values into pages of 16 rows.
#ifndef BANTAM_KERNELS_GENERIC_SPLIT_HEADS_H_
#define BANTAM_KERNELS_GENERIC_SPLIT_HEADS_H_

#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// The largest |x| of a head, as bits. The head may begin anywhere in a row, so only its own elements are read.
BANTAM_INLINE int32_t head_magnitude(const float* x, uint32_t width) {
  I32x16 worst = splat(int32_t{0});
  for_vectors(width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
    worst = max(worst, magnitude_bits(load_lanes(x + i, lanes)));
  });
  return largest(worst);
}

BANTAM_INLINE void split_query_q8(const float* x, uint32_t width, F32x16 inverse, int8_t* q) {
  for_vectors(width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
    store_bytes_lanes(q + i, flip_offset(quantize(load_lanes(x + i, lanes), inverse)), lanes);
  });
}

/// Lane `lane` of a key page: groups of 4 of its elements, 64 bytes apart; then its scale and its sum.
BANTAM_INLINE void split_key_q8(const float* x, uint32_t width, const RowScale& scale, uint8_t* page, uint32_t lane) {
  const F32x16 inverse = splat(scale.inverse);
  I32x16 total = splat(int32_t{0});
  const uint32_t padded = pad4(width);
  for_vectors(width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
    const I32x16 v = quantize(load_lanes(x + i, lanes), inverse);
    total = total + v;
    uint8_t buffer[16];
    store_bytes(buffer, v);
    uint8_t* to = page + size_t{i} * 16 + lane * 4;
    for (uint32_t j = 0; j < 16 && i + j < padded; j += 4) memcpy(to + j * 16, buffer + j, 4);
  });
  const int32_t sum_of_key = sum(total);
  memcpy(page + size_t{padded} * 16 + lane * 4, &scale.scale, 4);
  memcpy(page + size_t{padded} * 16 + 64 + lane * 4, &sum_of_key, 4);
}

/// Lane `lane` of a value page: tiles [width/16][4][16][4]; padding columns become 0.
BANTAM_INLINE void split_value_q8(const float* x, uint32_t width, const RowScale& scale, uint8_t* page,
                                  uint32_t lane) {
  const F32x16 inverse = splat(scale.inverse);
  uint8_t* column = page + (lane / 4) * 64 + lane % 4;
  for_vectors(width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
    uint8_t buffer[16];
    store_bytes(buffer, quantize(load_lanes(x + i, lanes), inverse));
    uint8_t* to = column + size_t{i} * 16;
    for (uint32_t j = 0; j < 16; ++j) to[j * 4] = buffer[j];
  });
  memcpy(page + size_t{pad16(width)} * 16 + lane * 4, &scale.scale, 4);
}

inline bool split_row_q8(const SplitHeads& a, uint32_t r) {
  const uint32_t width = a.head_width;
  const float* x = a.x + r * a.x_stride;
  const size_t row = size_t{a.row_begin} + r;
  const uint32_t lane = static_cast<uint32_t>(row % 16);
  const size_t page = (row / 16) * a.kv_heads;
  int32_t worst = 0;

  for (uint32_t h = 0; h < a.heads; ++h, x += width) {
    const int32_t m = head_magnitude(x, width);
    worst = worst > m ? worst : m;
    const RowScale scale = row_scale(m);
    a.q_scale[row * a.heads + h] = scale.scale;
    split_query_q8(x, width, splat(scale.inverse), static_cast<int8_t*>(a.q) + row * a.q_stride + size_t{h} * width);
  }
  for (uint32_t h = 0; h < a.kv_heads; ++h, x += width) {
    const int32_t m = head_magnitude(x, width);
    worst = worst > m ? worst : m;
    split_key_q8(x, width, row_scale(m), a.key_pages + (page + h) * key_page_bytes(width, true), lane);
  }
  for (uint32_t h = 0; h < a.kv_heads; ++h, x += width) {
    const int32_t m = head_magnitude(x, width);
    worst = worst > m ? worst : m;
    split_value_q8(x, width, row_scale(m), a.value_pages + (page + h) * value_page_bytes(width, true), lane);
  }
  return worst < kInfinityBits;
}

inline bool split_row_f32(const SplitHeads& a, uint32_t r) {
  const uint32_t width = a.head_width;
  const float* x = a.x + r * a.x_stride;
  const size_t row = size_t{a.row_begin} + r;
  const uint32_t lane = static_cast<uint32_t>(row % 16);
  const size_t page = (row / 16) * a.kv_heads;
  const int32_t worst = head_magnitude(x, (a.heads + 2 * a.kv_heads) * width);

  memcpy(static_cast<float*>(a.q) + row * a.q_stride, x, size_t{a.heads} * width * sizeof(float));
  x += size_t{a.heads} * width;
  for (uint32_t h = 0; h < a.kv_heads; ++h, x += width) {
    uint8_t* to = a.key_pages + (page + h) * key_page_bytes(width, false) + lane * sizeof(float);
    for (uint32_t i = 0; i < width; ++i) memcpy(to + size_t{i} * 64, x + i, sizeof(float));
  }
  for (uint32_t h = 0; h < a.kv_heads; ++h, x += width) {
    uint8_t* to = a.value_pages + (page + h) * value_page_bytes(width, false) + size_t{lane} * pad16(width) * 4;
    memcpy(to, x, width * sizeof(float));
    memset(to + width * sizeof(float), 0, (pad16(width) - width) * sizeof(float));
  }
  return worst < kInfinityBits;
}

inline bool split_heads(const SplitHeads& a) {
  bool finite = true;
  for (uint32_t r = 0; r < a.rows; ++r) finite &= a.q8 ? split_row_q8(a, r) : split_row_f32(a, r);
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_SPLIT_HEADS_H_
