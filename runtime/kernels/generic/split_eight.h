// split_heads for int8 heads on 16 lanes: the scales of eight heads at a time, the keys of a whole page, the values of
// four rows.
#ifndef BANTAM_KERNELS_GENERIC_SPLIT_EIGHT_H_
#define BANTAM_KERNELS_GENERIC_SPLIT_EIGHT_H_

#include "kernels/generic/split_heads.h"
#include "kernels/generic/transpose.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Eight heads and their scales. Eight at once, because each alone is a chain of dependent steps: reducing the lanes of
/// its vectors, two divisions.
struct EightHeads {
  const float* x;
  size_t step, four;  // head i begins at x + i % 4 * step + i / 4 * four
  float scale[16], inverse[16];

  BANTAM_INLINE const float* head(uint32_t i) const { return x + i % 4 * step + i / 4 * four; }
  /// Raises lanes 0 to 7 of `worst` to the maxima, as bits; the other lanes become undefined.
  BANTAM_INLINE void measure(uint32_t width, I32& worst) {
    I32 most[8];
    BANTAM_UNROLL
    for (uint32_t i = 0; i < 8; ++i) most[i] = splat(int32_t{0});
    for_vectors(
        width, [&](uint32_t c, auto lanes) __attribute__((always_inline)) {
          BANTAM_UNROLL
          for (uint32_t i = 0; i < 8; ++i) most[i] = max(most[i], magnitude_bits(load_lanes(head(i) + c, lanes)));
        });
    const I32 all = largest_of(most);
    worst = max(worst, all);
    const F32 m = from_bits(all);  // like row_scale
    const LaneMask tiny = less(m, splat(kTiny));
    store(scale, select(tiny, splat(1.0f), m / splat(127.0f)));
    store(inverse, select(tiny, splat(0.0f), splat(127.0f) / m));
  }
};
/// Returns the largest of the first eight lanes, or 0 if all of them are negative.
BANTAM_INLINE int32_t largest_of_first_eight(I32 v) {
  int32_t lanes[16];
  store(lanes, v);
  int32_t most = 0;
  for (uint32_t i = 0; i < 8; ++i) most = most > lanes[i] ? most : lanes[i];
  return most;
}

/// Splits the queries of row r of the call, not rotated. Returns the largest |x|, as bits.
inline int32_t split_query_row_q8(const SplitHeads& a, uint32_t r) {
  const uint32_t width = a.head_width;
  const float* x = a.x + r * a.x_stride;
  const size_t row = size_t{a.row_begin} + r;
  int8_t* q = static_cast<int8_t*>(a.q) + row * a.q_stride;
  float* scale = a.q_scale + row * a.heads;
  I32 worst = splat(int32_t{0});
  for (uint32_t h = 0, count = 0; h < a.heads; h += count) {
    const uint32_t left = a.heads - h;
    count = left >= 8 ? 8 : left >= 4 ? 4 : 1;
    EightHeads heads = {x + size_t{h} * width, count == 1 ? 0 : width, count == 8 ? size_t{width} * 4 : 0, {}, {}};
    heads.measure(width, worst);
    for (uint32_t i = 0; i < count; ++i) {
      scale[h + i] = heads.scale[i];
      split_query_q8(heads.head(i), width, splat(heads.inverse[i]), q + size_t{h + i} * width);
    }
  }
  return largest_of_first_eight(worst);
}

/// Writes lanes [lane, lane + 4), lane a multiple of 4, of a value page from heads [first, first + 4): whole tiles at
/// once.
BANTAM_INLINE void value_tiles_q8(const EightHeads& heads, uint32_t first, uint32_t width, uint8_t* page, size_t lane) {
  int32_t* tiles = reinterpret_cast<int32_t*>(page) + lane / 4 * 16;
  for_vectors(
      width, [&](uint32_t c, auto lanes) __attribute__((always_inline)) {
        I32 v[4];
        BANTAM_UNROLL
        for (uint32_t i = 0; i < 4; ++i) {
          v[i] = quantize(load_lanes(heads.head(first + i) + c, lanes), splat(heads.inverse[first + i]));
        }
        store(tiles + size_t{c} * 4, join_bytes(v[0], v[1], v[2], v[3]));
      });
  memcpy(page + size_t{pad16(width)} * 16 + lane * 4, heads.scale + first, 16);
}

/// Splits the keys of a whole page, rows [r, r + 16) of the call, not rotated: first as rows of bytes, which are then
/// transposed in squares of registers, for several heads together if they are narrow. Returns the largest |x|, as bits.
inline int32_t split_key_page_q8(const SplitHeads& a, uint32_t r) {
  constexpr uint32_t kColumns = kWords * 4;
  const uint32_t width = a.head_width;
  const uint32_t padded = pad4(width);
  const uint32_t most_together = kColumns % padded == 0 ? kColumns / padded : 1;
  const size_t page_bytes = key_page_bytes(width, true);
  const float* x = a.x + r * a.x_stride + size_t{a.heads} * width;
  uint8_t* page = a.key_pages + (size_t{a.row_begin} + r) / 16 * a.kv_heads * page_bytes;
  I32 worst = splat(int32_t{0});
  alignas(64) int8_t bytes[16 * kColumns + 16] = {};  // the last vector of a row may extend beyond the row
  alignas(64) int8_t tiles[kWords * 64];
  float inverse[kWords][16];
  for (uint32_t h = 0, together = 0; h < a.kv_heads; h += together) {
    together = a.kv_heads - h < most_together ? a.kv_heads - h : most_together;
    for (uint32_t t = 0; t < together; ++t) {
      for (uint32_t half = 0; half < 16; half += 8) {
        EightHeads rows = {x + size_t{h + t} * width + half * a.x_stride, a.x_stride, a.x_stride * 4, {}, {}};
        rows.measure(width, worst);
        memcpy(inverse[t] + half, rows.inverse, 32);
        memcpy(page + (h + t) * page_bytes + size_t{padded} * 16 + size_t{half} * 4, rows.scale, 32);
      }
    }
    for (uint32_t c = 0; c < padded; c += kColumns) {
      const uint32_t columns = width - c < kColumns ? width - c : kColumns;
      for (uint32_t row = 0; row < 16; ++row) {
        for (uint32_t t = 0; t < together; ++t) {
          const float* from = x + size_t{h + t} * width + row * a.x_stride + c;
          int8_t* to = bytes + size_t{row} * kColumns + size_t{t} * padded;
          for_vectors(
              columns, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
                store_bytes(to + i, flip_offset(quantize(load_lanes(from + i, lanes), splat(inverse[t][row]))));
              });
        }
      }
      rows_to_tokens<16>(bytes, kColumns, 16, kWords, tiles);
      for (uint32_t t = 0; t < together; ++t) {
        uint8_t* to = page + (h + t) * page_bytes + size_t{c} * 16;
        const int8_t* from = tiles + size_t{t} * padded * 16;
        for (uint32_t i = 0; i < pad4(columns); i += 4) memcpy(to + size_t{i} * 16, from + size_t{i} * 16, 64);
      }
    }
  }
  return largest_of_first_eight(worst);
}

/// Splits the values of rows [r, r + 4) of the call, for lanes that begin at a multiple of 4: two heads at a time.
/// Returns the largest |x|, as bits.
inline int32_t split_four_values_q8(const SplitHeads& a, uint32_t r) {
  const uint32_t width = a.head_width;
  const size_t row = size_t{a.row_begin} + r;
  const size_t page_bytes = value_page_bytes(width, true);
  const float* x = a.x + r * a.x_stride + size_t{a.heads + a.kv_heads} * width;
  uint8_t* page = a.value_pages + row / 16 * a.kv_heads * page_bytes;
  I32 worst = splat(int32_t{0});
  for (uint32_t h = 0; h < a.kv_heads; h += 2, x += 2 * size_t{width}, page += 2 * page_bytes) {
    const bool both = h + 2 <= a.kv_heads;
    EightHeads heads = {x, a.x_stride, both ? width : 0, {}, {}};
    heads.measure(width, worst);
    value_tiles_q8(heads, 0, width, page, row % 16);
    if (both) value_tiles_q8(heads, 4, width, page + page_bytes, row % 16);
  }
  return largest_of_first_eight(worst);
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_SPLIT_EIGHT_H_
