// static_split: divides i8 rows [q | k | v] into heads and stores keys and values in pages of 16 rows. On 16 lanes the
// keys of a whole page are transposed in squares of registers, and the values of four rows as vectors of bytes.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_STATIC_SPLIT_H_
#define BANTAM_KERNELS_GENERIC_STATIC_STATIC_SPLIT_H_

#include "kernels/generic/lanes.h"
#include "kernels/generic/static/static_rows.h"
#if !defined(BANTAM_KERNEL_ONE_LANE)
#include "kernels/generic/transpose.h"
#endif

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

inline void static_split_key(const int8_t* x, uint32_t width, uint8_t* page, size_t lane) {
  uint8_t* to = page + lane * 4;
  uint32_t i = 0;
  for (; i + 4 <= width; i += 4, to += 64) memcpy(to, x + i, 4);
  if (i == width) return;
  for (uint32_t j = 0; j < 4; ++j) to[j] = i + j < width ? static_cast<uint8_t>(x[i + j]) : kOffsetXor;
}
inline void static_split_value(const int8_t* x, uint32_t width, uint8_t* page, size_t lane) {
  uint8_t* column = page + (lane / 4) * 64 + lane % 4;
  for (uint32_t i = 0; i < width; i += 16, column += 256) {
    const uint32_t here = width - i < 16 ? width - i : 16;
    for (uint32_t j = 0; j < here; ++j) column[j * 4] = static_cast<uint8_t>(stored_byte(x[i + j]));
    for (uint32_t j = here; j < 16; ++j) column[j * 4] = 0;
  }
}

#if !defined(BANTAM_KERNEL_ONE_LANE)

/// Stores the keys of a whole page; x points to those of its first row. Heads whose width is a multiple of 4 are
/// treated as one long head: their pages are contiguous.
inline void static_split_key_page(const StaticSplit& a, const int8_t* x, uint8_t* page) {
  const uint32_t rest = a.head_width % 4;
  const uint32_t width = rest == 0 ? a.head_width * a.kv_heads : a.head_width;
  const uint32_t heads = rest == 0 ? 1 : a.kv_heads;
  for (uint32_t h = 0; h < heads; ++h, x += width, page += static_key_page_bytes(width)) {
    rows_to_tokens<16>(x, a.x_stride, 16, width / 4, reinterpret_cast<int8_t*>(page));
    if (rest == 0) continue;
    const size_t end = width - rest;
    for (uint32_t r = 0; r < 16; ++r) static_split_key(x + r * a.x_stride + end, rest, page + end * 16, r);
  }
}

/// Stores the values of four rows, lanes [lane, lane + 4) of a page, lane a multiple of 4; as above with 16 in place of
/// 4.
BANTAM_NOINLINE inline void static_split_four_values(const StaticSplit& a, const int8_t* x, uint8_t* page,
                                                     size_t lane) {
  const uint32_t rest = a.head_width % 16;
  const uint32_t width = rest == 0 ? a.head_width * a.kv_heads : a.head_width;
  const uint32_t heads = rest == 0 ? 1 : a.kv_heads;
  uint8_t* to = page + lane * 16;
  for (uint32_t h = 0; h < heads; ++h, x += rest) {
    for (uint32_t i = 16; i <= width; i += 16, x += 16, to += 256) columns_of_four(x, a.x_stride, to);
    if (rest == 0) continue;
    int8_t some[4][16];
    memset(some, kOffsetXor, sizeof(some));
    for (uint32_t r = 0; r < 4; ++r) memcpy(some[r], x + r * a.x_stride, rest);
    columns_of_four(some[0], 16, to);
    to += 256;
  }
}

#endif

inline bool static_split(const StaticSplit& a) {
  if constexpr (!linked::kStatic) return false;
  const uint32_t width = a.head_width;
  uint32_t keys_end = 0, values_end = 0;  // rows of the call before these were already stored together with others
  for (uint32_t r = 0; r < a.rows; ++r) {
    const int8_t* x = a.x + r * a.x_stride;
    const size_t row = size_t{a.row_begin} + r;
    if (a.heads != 0) memcpy(a.q + r * a.q_stride, x, size_t{a.heads} * width);
    x += size_t{a.heads} * width;
    const size_t page = row / 16 * a.kv_heads;
#if !defined(BANTAM_KERNEL_ONE_LANE)
    if (row % 16 == 0 && a.rows - r >= 16) {
      static_split_key_page(a, x, a.key_pages + page * static_key_page_bytes(width));
      keys_end = r + 16;
    }
    if (row % 4 == 0 && a.rows - r >= 4) {
      uint8_t* to = a.value_pages + page * static_value_page_bytes(width);
      static_split_four_values(a, x + size_t{a.kv_heads} * width, to, row % 16);
      values_end = r + 4;
    }
#endif
    if (r < keys_end) {
      x += size_t{a.kv_heads} * width;
    } else {
      for (uint32_t h = 0; h < a.kv_heads; ++h, x += width) {
        static_split_key(x, width, a.key_pages + (page + h) * static_key_page_bytes(width), row % 16);
      }
    }
    if (r < values_end) continue;
    for (uint32_t h = 0; h < a.kv_heads; ++h, x += width) {
      static_split_value(x, width, a.value_pages + (page + h) * static_value_page_bytes(width), row % 16);
    }
  }
  return true;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_STATIC_SPLIT_H_
