// split_heads: divides rows [q | k | v] into heads, quantizes each, and scatters keys and values into pages of 16 rows.
#ifndef BANTAM_KERNELS_GENERIC_SPLIT_HEADS_H_
#define BANTAM_KERNELS_GENERIC_SPLIT_HEADS_H_

#include "kernels/generic/passes.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// The largest |x| of a head, as bits. The head may begin anywhere in a row, so only its own elements are read.
BANTAM_INLINE int32_t head_magnitude(const float* x, uint32_t width) {
#if defined(BANTAM_KERNEL_ONE_LANE)
  return magnitude_of(x, width);
#else
  I32 worst = splat(int32_t{0});
  for_vectors(
      width, [&](uint32_t i, auto lanes)
                 __attribute__((always_inline)) { worst = max(worst, magnitude_bits(load_lanes(x + i, lanes))); });
  return largest(worst);
#endif
}

/// Rotates head x of row r by the row's position.
BANTAM_NOINLINE inline const float* rotate_head(const SplitHeads& a, uint32_t r, const float* x) {
  if constexpr (!linked::kRotary) return x;
  const uint32_t half = a.rotary_width;
  const float* cosines = a.rotary + size_t{r} * 2 * half;
  float* y = a.rotated;
  for_vectors(
      half, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        const F32 low = load_lanes(x + i, lanes);
        const F32 high = load_lanes(x + half + i, lanes);
        const F32 c = load_lanes(cosines + i, lanes);
        const F32 s = load_lanes(cosines + half + i, lanes);
        store_lanes(y + i, fma(low, c, splat(0.0f) - high * s), lanes);
        store_lanes(y + half + i, fma(high, c, low * s), lanes);
      });
  for (uint32_t i = 2 * half; i < a.head_width; ++i) y[i] = x[i];
  return y;
}
/// Returns the head as it is stored.
BANTAM_INLINE const float* final_head(const SplitHeads& a, uint32_t r, const float* x) {
  return linked::kRotary && a.rotary != nullptr ? rotate_head(a, r, x) : x;
}

#if defined(BANTAM_KERNEL_ONE_LANE)

/// Stores all elements of a head in lane `lane` of a page, then its scale: in a key page as groups of 4, 64 bytes
/// apart, in a value page as tiles [width / 16][4][16][4]; padding becomes 0.
BANTAM_INLINE void store_head(const float* x, uint32_t width, const RowScale& scale, bool value, uint8_t* page,
                              size_t lane) {
  const uint32_t padded = value ? pad16(width) : pad4(width);
  const uint32_t step = value ? 4 : 1;
  uint8_t* to = page + (value ? lane / 4 * 64 + lane % 4 : lane * 4);
  static_assert(kOffsetXor == 0, "keys are stored as they are");
  for (uint32_t i = 0; i < width; i += 16) {
    int8_t bytes[16];
    const uint32_t left = width - i;
    if (left < 16) memset(bytes, 0, 16);
    quantize_row(x + i, left < 16 ? left : 16, scale.inverse, bytes);
    for (uint32_t j = 0; j < 16 && i + j < padded; j += 4, to += value ? 16 : 64) {
      BANTAM_UNROLL_ALWAYS
      for (uint32_t b = 0; b < 4; ++b) to[b * step] = static_cast<uint8_t>(bytes[j + b]);
    }
    if (value) to += 256 - 64;
  }
  memcpy(page + size_t{padded} * 16 + lane * 4, &scale.scale, 4);
}

/// Splits queries, keys and values in one loop over heads.
inline bool split_heads_q8(const SplitHeads& a) {
  const uint32_t width = a.head_width;
  const uint32_t values = a.heads + a.kv_heads;
  int32_t worst = 0;
  for (uint32_t r = 0; r < a.rows; ++r) {
    const float* x = a.x + r * a.x_stride;
    const size_t row = size_t{a.row_begin} + r;
    const size_t page = row / 16 * a.kv_heads;
    for (uint32_t h = 0; h < values + a.kv_heads; ++h, x += width) {
      const float* head = h < values ? final_head(a, r, x) : x;
      const int32_t m = magnitude_of(head, width);
      worst = max(worst, m);
      const RowScale scale = row_scale(m);
      if (h < a.heads) {
        a.q_scale[row * a.heads + h] = scale.scale;
        quantize_row(head, width, scale.inverse, static_cast<int8_t*>(a.q) + row * a.q_stride + size_t{h} * width);
        continue;
      }
      const bool value = h >= values;
      uint8_t* to = value ? a.value_pages + (page + h - values) * value_page_bytes(width, true)
                          : a.key_pages + (page + h - a.heads) * key_page_bytes(width, true);
      store_head(head, width, scale, value, to, row % 16);
    }
  }
  return worst < kInfinityBits;
}

#else

BANTAM_INLINE void split_query_q8(const float* x, uint32_t width, F32 inverse, int8_t* q) {
  for_vectors(
      width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        store_bytes_lanes(q + i, quantize(load_lanes(x + i, lanes), inverse), lanes);
      });
}

/// Stores a head in lane `lane` of a key page: groups of 4 elements, 64 bytes apart; then its scale.
BANTAM_INLINE void split_key_q8(const float* x, uint32_t width, const RowScale& scale, uint8_t* page, size_t lane) {
  const F32 inverse = splat(scale.inverse);
  const uint32_t padded = pad4(width);
  uint8_t* to = page + lane * 4;
  for_vectors(
      width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        uint8_t buffer[16];
        store_bytes(buffer, flip_offset(quantize(load_lanes(x + i, lanes), inverse)));
        for (uint32_t j = 0; j < kLanes && i + j < padded; j += 4) memcpy(to + (i + j) * size_t{16}, buffer + j, 4);
      });
  memcpy(page + size_t{padded} * 16 + lane * 4, &scale.scale, 4);
}

/// Offset of column `i` in tiles [columns / 16][4][16][4], from the first byte of the lane.
BANTAM_INLINE size_t value_byte(uint32_t i) { return size_t{i / 16} * 256 + i % 16 * 4; }

/// Stores a head in lane `lane` of a value page: tiles [width/16][4][16][4]; padding columns become 0.
BANTAM_INLINE void split_value_q8(const float* x, uint32_t width, const RowScale& scale, uint8_t* page, size_t lane) {
  const F32 inverse = splat(scale.inverse);
  uint8_t* column = page + (lane / 4) * 64 + lane % 4;
  for_vectors(
      width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        uint8_t buffer[kLanes];
        store_bytes(buffer, quantize(load_lanes(x + i, lanes), inverse));
        uint8_t* to = column + value_byte(i);
        for (uint32_t j = 0; j < kLanes; ++j) to[j * 4] = buffer[j];
      });
  if constexpr (kLanes < 16) {
    for (uint32_t i = width; i < pad16(width); ++i) column[value_byte(i)] = 0;
  }
  memcpy(page + size_t{pad16(width)} * 16 + lane * 4, &scale.scale, 4);
}

// With vectors: split_eight.h.
inline int32_t split_query_row_q8(const SplitHeads& a, uint32_t r);
inline int32_t split_key_page_q8(const SplitHeads& a, uint32_t r);
inline int32_t split_four_values_q8(const SplitHeads& a, uint32_t r);

/// Splits the queries of row r of the call. Returns the largest |x|, as bits.
inline int32_t split_queries_q8(const SplitHeads& a, uint32_t r) {
  if constexpr (kLanes == 16) {
    if (!linked::kRotary || a.rotary == nullptr) return split_query_row_q8(a, r);
  }
  const uint32_t width = a.head_width;
  const float* x = a.x + r * a.x_stride;
  const size_t row = size_t{a.row_begin} + r;
  int8_t* q = static_cast<int8_t*>(a.q) + row * a.q_stride;
  int32_t worst = 0;
  for (uint32_t h = 0; h < a.heads; ++h, x += width) {
    const float* head = final_head(a, r, x);
    const int32_t m = head_magnitude(head, width);
    worst = worst > m ? worst : m;
    const RowScale scale = row_scale(m);
    a.q_scale[row * a.heads + h] = scale.scale;
    split_query_q8(head, width, splat(scale.inverse), q + size_t{h} * width);
  }
  return worst;
}

/// Splits the keys of row r of the call. Returns the largest |x|, as bits.
inline int32_t split_keys_q8(const SplitHeads& a, uint32_t r) {
  const uint32_t width = a.head_width;
  const float* x = a.x + r * a.x_stride + size_t{a.heads} * width;
  const size_t row = size_t{a.row_begin} + r;
  const size_t page = (row / 16) * a.kv_heads;
  int32_t worst = 0;
  for (uint32_t h = 0; h < a.kv_heads; ++h, x += width) {
    const float* head = final_head(a, r, x);
    const int32_t m = head_magnitude(head, width);
    worst = worst > m ? worst : m;
    split_key_q8(head, width, row_scale(m), a.key_pages + (page + h) * key_page_bytes(width, true), row % 16);
  }
  return worst;
}

/// Splits the values of row r of the call. Returns the largest |x|, as bits.
inline int32_t split_values_q8(const SplitHeads& a, uint32_t r) {
  const uint32_t width = a.head_width;
  const float* x = a.x + r * a.x_stride + size_t{a.heads + a.kv_heads} * width;
  const size_t row = size_t{a.row_begin} + r;
  const size_t page = (row / 16) * a.kv_heads;
  const size_t page_bytes = value_page_bytes(width, true);
  uint8_t* to = a.value_pages + page * page_bytes;
  int32_t worst = 0;
  for (uint32_t h = 0; h < a.kv_heads; ++h, x += width, to += page_bytes) {
    const int32_t m = head_magnitude(x, width);
    worst = worst > m ? worst : m;
    split_value_q8(x, width, row_scale(m), to, row % 16);
  }
  return worst;
}

inline bool split_heads_q8(const SplitHeads& a) {
  int32_t worst = 0;
  const auto note = [&worst](int32_t m) { worst = worst > m ? worst : m; };
  if (a.heads != 0) {
    for (uint32_t r = 0; r < a.rows; ++r) note(split_queries_q8(a, r));
  }
  for (uint32_t r = 0; r < a.rows;) {
    if constexpr (kLanes == 16) {
      const bool turned = linked::kRotary && a.rotary != nullptr;
      if (!turned && (a.row_begin + r) % 16 == 0 && a.rows - r >= 16) {
        note(split_key_page_q8(a, r));
        r += 16;
        continue;
      }
    }
    note(split_keys_q8(a, r++));
  }
  for (uint32_t r = 0; r < a.rows;) {
    if constexpr (kLanes == 16) {
      if ((a.row_begin + r) % 4 == 0 && a.rows - r >= 4) {
        note(split_four_values_q8(a, r));
        r += 4;
        continue;
      }
    }
    note(split_values_q8(a, r++));
  }
  return worst < kInfinityBits;
}

#endif

inline bool split_row_f32(const SplitHeads& a, uint32_t r) {
  const uint32_t width = a.head_width;
  const float* x = a.x + r * a.x_stride;
  const size_t row = size_t{a.row_begin} + r;
  const uint32_t lane = static_cast<uint32_t>(row % 16);
  const size_t page = (row / 16) * a.kv_heads;
  const int32_t worst = head_magnitude(x, (a.heads + 2 * a.kv_heads) * width);

  float* q = a.heads == 0 ? nullptr : static_cast<float*>(a.q) + row * a.q_stride;
  for (uint32_t h = 0; h < a.heads; ++h, x += width, q += width) {
    memcpy(q, final_head(a, r, x), width * sizeof(float));
  }
  for (uint32_t h = 0; h < a.kv_heads; ++h, x += width) {
    const float* head = final_head(a, r, x);
    uint8_t* to = a.key_pages + (page + h) * key_page_bytes(width, false) + lane * sizeof(float);
    for (uint32_t i = 0; i < width; ++i) memcpy(to + size_t{i} * 64, head + i, sizeof(float));
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
  if constexpr (linked::kDynamic) {
#if defined(BANTAM_KERNEL_VECTORS)
    if (a.q8 && (!linked::kRotary || a.rotary == nullptr)) return BANTAM_KERNEL_VECTORS::split_rows(a);
    if (linked::kRotary && a.q8) return split_heads_q8(a);
#else
    if (a.q8) return split_heads_q8(a);
#endif
  }
  if constexpr (linked::kFloatAttention) {
    for (uint32_t r = 0; r < a.rows; ++r) finite &= split_row_f32(a, r);
  }
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_SPLIT_HEADS_H_
