// Integer-only row operations: plain loops over integers, which compilers turn into vectors.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_ROWS_H_
#define BANTAM_KERNELS_GENERIC_STATIC_ROWS_H_

#include "kernels/generic/config.h"
#include "linked.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

BANTAM_INLINE int32_t wrapping_add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
/// floor((v + 2^(shift-1)) / 2^shift); the addition wraps. `half`: half_of(shift).
BANTAM_INLINE int32_t half_of(uint32_t shift) { return static_cast<int32_t>((uint32_t{1} << shift) >> 1); }
BANTAM_INLINE int32_t round_shift(int32_t v, int32_t half, uint32_t shift) { return wrapping_add(v, half) >> shift; }
BANTAM_INLINE int32_t clamp(int32_t v, int32_t low, int32_t high) { return v < low ? low : v > high ? high : v; }
BANTAM_INLINE int32_t sat16(int32_t v) { return clamp(v, -32768, 32767); }
BANTAM_INLINE int32_t sat8(int32_t v) { return clamp(v, -127, 127); }
/// Between values and how a session stores them.
BANTAM_INLINE int32_t stored(int32_t v) { return v ^ static_cast<int8_t>(kOffsetXor); }

/// floor(sqrt(v)), bit by bit.
inline uint32_t floor_sqrt(uint32_t v) {
  uint32_t root = 0;
  for (uint32_t bit = uint32_t{1} << 30; bit != 0; bit >>= 2) {
    const bool fits = v >= root + bit;
    if (fits) v -= root + bit;
    root = (root >> 1) + (fits ? bit : 0);
  }
  return root;
}

/// d / sqrt(V) times 2^15 as rs(d * factor, shift), for sum |d|^2 = V.
struct Reciprocal {
  int32_t factor;
  uint32_t shift;
};
inline Reciprocal reciprocal_root(uint64_t v) {
  uint32_t shift = 14;  // 14 + j
  for (; v >= uint64_t{1} << 32; v >>= 2) ++shift;
  for (; v < uint64_t{1} << 30 && shift > 0; v <<= 2) --shift;
  const uint32_t root = floor_sqrt(static_cast<uint32_t>(v));
  return {static_cast<int32_t>((uint32_t{1} << 29) / root), shift};
}

inline int32_t add_residual(const StaticNorm& a, uint32_t r, int16_t* h) {
  int32_t total = 0;
  if (a.residual == nullptr) {
    for (uint32_t i = 0; i < a.width; ++i) total += h[i];
    return total;
  }
  const int8_t* residual = a.residual + r * a.residual_stride;
  const int32_t half = half_of(a.residual_shift);
  for (uint32_t i = 0; i < a.width; ++i) {
    const int32_t added = round_shift(stored(residual[i]) * a.residual_multiplier[i], half, a.residual_shift);
    const int32_t v = sat16(h[i] + added);
    h[i] = static_cast<int16_t>(v);
    total += v;
  }
  return total;
}

inline bool static_norm(const StaticNorm& a) {
  if constexpr (!linked::kStatic) return false;
  const auto width = static_cast<int32_t>(a.width);
  for (uint32_t r = 0; r < a.rows; ++r) {
    int16_t* h = a.h + r * a.h_stride;
    const int32_t total = add_residual(a, r, h);
    const int32_t mean = (total + (total < 0 ? -(width / 2) : width / 2)) / width;
    uint64_t squares = a.epsilon;
    for (uint32_t i = 0; i < a.width; ++i) {
      const auto d = static_cast<uint32_t>(h[i] - mean);
      squares += d * d;
    }
    const Reciprocal root = reciprocal_root(squares);
    const int32_t root_half = half_of(root.shift);
    const int32_t half = half_of(a.shift);
    int8_t* y = a.y + r * a.y_stride;
    for (uint32_t i = 0; i < a.width; ++i) {
      const int32_t z = sat16(round_shift((h[i] - mean) * root.factor, root_half, root.shift));
      const int32_t v = wrapping_add(z * a.gamma[i], a.beta[i]);
      y[i] = static_cast<int8_t>(stored(sat8(round_shift(v, half, a.shift))));
    }
    memset(y + a.width, kOffsetXor, pad16(a.width) - a.width);
  }
  return true;
}

inline bool static_embed(const StaticEmbed& a) {
  if constexpr (!linked::kStatic) return false;
  constexpr uint32_t kColumns = 64;
  for (uint32_t r = 0; r < a.rows; ++r) {
    for (uint32_t column = 0; column < a.width; column += kColumns) {
      const uint32_t count = a.width - column < kColumns ? a.width - column : kColumns;
      int32_t total[kColumns];
      for (uint32_t s = 0; s < a.source_count; ++s) {
        const StaticSource& source = a.sources[s];
        const auto index = static_cast<size_t>(source.index[r]);
        const int32_t multiplier = source.multiplier[index];
        const int32_t half = half_of(source.shift);
        const size_t at = index * a.width + column;
        const auto add = [&](const auto* row) {
          for (uint32_t i = 0; i < count; ++i) {
            const int32_t v = round_shift(row[i] * multiplier, half, source.shift);
            total[i] = s == 0 ? v : wrapping_add(total[i], v);
          }
        };
        if (source.wide) {
          add(static_cast<const int16_t*>(source.data) + at);
        } else {
          add(static_cast<const int8_t*>(source.data) + at);
        }
      }
      int16_t* y = a.y + r * a.y_stride + column;
      for (uint32_t i = 0; i < count; ++i) y[i] = static_cast<int16_t>(sat16(total[i]));
    }
  }
  return true;
}

inline void static_split_key(const int8_t* x, uint32_t width, uint8_t* page, size_t lane) {
  for (uint32_t i = 0; i < pad4(width); ++i) {
    page[size_t{i / 4} * 64 + lane * 4 + i % 4] = i < width ? static_cast<uint8_t>(x[i]) : kOffsetXor;
  }
}
inline void static_split_value(const int8_t* x, uint32_t width, uint8_t* page, size_t lane) {
  uint8_t* column = page + (lane / 4) * 64 + lane % 4;
  for (uint32_t i = 0; i < pad16(width); ++i) {
    column[size_t{i / 16} * 256 + (i % 16) * 4] = i < width ? static_cast<uint8_t>(stored(x[i])) : uint8_t{0};
  }
}

inline bool static_split(const StaticSplit& a) {
  if constexpr (!linked::kStatic) return false;
  const uint32_t width = a.head_width;
  for (uint32_t r = 0; r < a.rows; ++r) {
    const int8_t* x = a.x + r * a.x_stride;
    const size_t row = size_t{a.row_begin} + r;
    if (a.heads != 0) memcpy(a.q + r * a.q_stride, x, size_t{a.heads} * width);
    x += size_t{a.heads} * width;
    const size_t page = row / 16 * a.kv_heads;
    for (uint32_t h = 0; h < a.kv_heads; ++h, x += width) {
      static_split_key(x, width, a.key_pages + (page + h) * static_key_page_bytes(width), row % 16);
    }
    for (uint32_t h = 0; h < a.kv_heads; ++h, x += width) {
      static_split_value(x, width, a.value_pages + (page + h) * static_value_page_bytes(width), row % 16);
    }
  }
  return true;
}

/// Column i of the rows; sums of up to 2^24 rows stay in int32.
BANTAM_INLINE int32_t static_pool_column(const StaticPool& a, uint32_t i) {
  const int8_t* x = a.x + (a.kind == Pool::kLast ? a.row_end - 1 : a.row_begin) * a.x_stride + i;
  int32_t v = stored(*x);
  if (a.kind == Pool::kFirst || a.kind == Pool::kLast) return v;
  for (uint32_t r = a.row_begin + 1; r < a.row_end; ++r) {
    x += a.x_stride;
    const int32_t next = stored(*x);
    v = a.kind != Pool::kMax ? v + next : v > next ? v : next;
  }
  return v;
}

inline bool static_pool(const StaticPool& a) {
  if constexpr (!linked::kStatic) return false;
  if (a.y != nullptr) {
    for (uint32_t i = 0; i < a.width; ++i) a.y[i] = static_cast<int8_t>(stored(static_pool_column(a, i)));
    memset(a.y + a.width, kOffsetXor, pad16(a.width) - a.width);
    return true;
  }
  const auto count = static_cast<float>(a.row_end - a.row_begin);
  for (uint32_t i = 0; i < a.width; ++i) {
    const float v = static_cast<float>(static_pool_column(a, i)) * a.scale[i];
    a.y_f32[i] = a.kind == Pool::kMean ? v / count : v;
  }
  if (!a.l2) return true;
  float squares = 0.0f;
  for (uint32_t i = 0; i < a.width; ++i) squares = squares + a.y_f32[i] * a.y_f32[i];
  const float root = __builtin_sqrtf(squares);
  const float norm = root > 1e-12f ? root : 1e-12f;
  for (uint32_t i = 0; i < a.width; ++i) a.y_f32[i] = a.y_f32[i] / norm;
  return true;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_ROWS_H_
