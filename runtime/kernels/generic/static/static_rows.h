// Integer-only row operations.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_STATIC_ROWS_H_
#define BANTAM_KERNELS_GENERIC_STATIC_STATIC_ROWS_H_

#include "kernels/generic/static/static_ints.h"
#include "linked.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Convert between values and their stored form.
BANTAM_TINY Ints stored(Ints v) { return flip(v, static_cast<int8_t>(kOffsetXor)); }
BANTAM_TINY int8_t stored_byte(int32_t v) { return static_cast<int8_t>(v ^ static_cast<int8_t>(kOffsetXor)); }
/// Passes over rows take whole steps, a vector or four numbers: their elements up to the next multiple of 16 exist.
/// Sums exclude elements beyond the row.
constexpr uint32_t kIntStep = kIntLanes < 4 ? 4 : kIntLanes;
BANTAM_TINY uint32_t whole_steps(uint32_t width) { return (width + kIntStep - 1) / kIntStep * kIntStep; }
/// Calls f(j) for each vector of a step.
template <class F>
BANTAM_TINY void for_step(const F& f) {
  BANTAM_UNROLL_ALWAYS
  for (uint32_t j = 0; j < kIntStep; j += kIntLanes) f(j);
}
/// Stores v(j) of a step, saturated to [-127, 127], in stored form; p is 4-byte aligned.
template <class F>
BANTAM_TINY void store_sat8(int8_t* p, const F& v) {
#if defined(__ARM_FEATURE_SIMD32) && defined(BANTAM_KERNEL_SATURATES) && !defined(BANTAM_KERNEL_OWN_INTS)
  static_assert(kOffsetXor == 0, "bytes as they are");
  uint32_t four = 0;
  for_step([&](uint32_t j) __attribute__((always_inline)) {
    const auto byte = static_cast<uint32_t>(byte_range(v(j)));
    four = j == 0 ? byte : (four & ((uint32_t{1} << (8 * j)) - 1)) | byte << (8 * j);
  });
  // Subtract one and add one, both saturating: -128 becomes -127.
  constexpr int8x4_t kOnes = 0x01010101;
  const int8x4_t limited = __qadd8(__qsub8(static_cast<int8x4_t>(four), kOnes), kOnes);
  memcpy(__builtin_assume_aligned(p, 4), &limited, 4);
#else
  for_step([&](uint32_t j) __attribute__((always_inline)) { store_ints(p + j, stored(sat8(v(j)))); });
#endif
}

/// floor(sqrt(v)): with a double, which represents every 32-bit root and is correctly rounded, or bit by bit.
inline uint32_t floor_sqrt(uint32_t v) {
  if constexpr (kIntLanes == 16) return static_cast<uint32_t>(__builtin_sqrt(v));
  uint32_t root = 0;
  for (uint32_t bit = uint32_t{1} << 30; bit != 0; bit >>= 2) {
    const bool fits = v >= root + bit;
    if (fits) v -= root + bit;
    root = (root >> 1) + (fits ? bit : 0);
  }
  return root;
}

/// Represents d / sqrt(V) times 2^15 as rs(d * factor, shift), for sum |d|^2 = V.
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

/// The integer nearest to total / width, halves away from 0.
BANTAM_TINY int32_t rounded_mean(int32_t total, uint32_t width) {
  const auto n = static_cast<int32_t>(width);
  return (total + (total < 0 ? -(n / 2) : n / 2)) / n;
}

#if !defined(BANTAM_KERNEL_VECTOR_INTS)

/// Adds the residual, if there is one, and returns the sum of the row. A separate function, like the next ones: the
/// registers of a small core suffice for one pass.
BANTAM_NOINLINE inline int32_t add_residual(const StaticNorm& a, int16_t* h, const int8_t* residual) {
  const uint32_t end = whole_steps(a.width);
  if (residual == nullptr) {
    int32_t total = 0;
    for (uint32_t i = 0; i < a.width; ++i) total += h[i];
    return total;
  }
  IntTotal sum = no_ints();
  const RoundShift round(a.residual_shift);
  const int16_t* multiplier = a.residual_multiplier;
  for (uint32_t i = 0; i < end; i += kIntStep) {
    for_step([&](uint32_t j) __attribute__((always_inline)) {
      const Factors times = load_factors(multiplier + i + j);
      const Ints scaled = round.down(multiply_add(stored(load_ints(residual + i + j)), times, round.half));
      const Ints v = sat16(plus(load_ints(h + i + j), scaled));
      store_ints(h + i + j, v);
      sum = add_lanes(sum, v);
    });
  }
  int32_t total = total_of(sum);
  for (uint32_t i = a.width; i < end; ++i) total -= h[i];
  return total;
}

/// epsilon + the sum of (h - mean)^2.
BANTAM_NOINLINE inline uint64_t sum_squares(const StaticNorm& a, const int16_t* h, int32_t mean) {
  const uint32_t end = whole_steps(a.width);
  SquareTotal sum = no_squares();
  for (uint32_t i = 0; i < end; i += kIntStep) {
    for_step([&](uint32_t j)
                 __attribute__((always_inline)) { sum = add_squares(sum, minus(load_ints(h + i + j), mean)); });
  }
  uint64_t squares = a.epsilon + total_of(sum);
  for (uint32_t i = a.width; i < end; ++i) {
    const auto d = static_cast<uint32_t>(h[i] - mean);
    squares -= d * d;
  }
  return squares;
}

BANTAM_NOINLINE inline void store_normed(const StaticNorm& a, const int16_t* h, int32_t mean, Reciprocal root,
                                         int8_t* y) {
  const uint32_t end = whole_steps(a.width);
  const RoundShift root_round(root.shift);
  const RoundShift round(a.shift);
  // (h - mean) * factor + half; only the part with h varies.
  const Factors factor = splat_factor(root.factor);
  const auto part = static_cast<uint32_t>(mean) * static_cast<uint32_t>(root.factor);
  const auto offset = static_cast<int32_t>(static_cast<uint32_t>(root_round.half) - part);
  const int16_t* gamma = a.gamma;
  const int32_t* beta = a.beta;
  for (uint32_t i = 0; i < end; i += kIntStep) {
    store_sat8(
        y + i, [&](uint32_t j) __attribute__((always_inline)) {
          const Ints z = sat16(root_round.down(multiply_add(load_ints(h + i + j), factor, offset)));
          return round.down(plus(multiply_add(z, load_factors(gamma + i + j), round.half), load_ints(beta + i + j)));
        });
  }
  memset(y + a.width, kOffsetXor, pad16(a.width) - a.width);
}

inline bool static_norm(const StaticNorm& a) {
  if constexpr (!linked::kStatic) return false;
  for (uint32_t r = 0; r < a.rows; ++r) {
    int16_t* h = a.h + r * a.h_stride;
    const int32_t total = add_residual(a, h, a.residual == nullptr ? nullptr : a.residual + r * a.residual_stride);
    const int32_t mean = rounded_mean(total, a.width);
    store_normed(a, h, mean, reciprocal_root(sum_squares(a, h, mean)), a.y + r * a.y_stride);
  }
  return true;
}

#endif

/// Loads the first `count` elements at p, possibly less than a vector: elements after them are not read.
template <class T>
BANTAM_INLINE Ints load_ints_first(const T* p, uint32_t count) {
  if (count >= kIntLanes) return load_ints(p);
  T some[kIntLanes] = {};
  memcpy(some, p, count * sizeof(T));
  return load_ints(some);
}
/// Like load_ints_first, for stores.
template <class T>
BANTAM_INLINE void store_ints_first(T* p, Ints v, uint32_t count) {
  if (count >= kIntLanes) return store_ints(p, v);
  T all[kIntLanes];
  store_ints(all, v);
  memcpy(p, all, count * sizeof(T));
}

/// Prefetches the table rows of row r, some rows in advance, because they may be anywhere in megabytes.
BANTAM_INLINE void fetch_embedding(const StaticEmbed& a, uint32_t r) {
  for (uint32_t s = 0; s < a.source_count; ++s) {
    const StaticSource& source = a.sources[s];
    const size_t bytes = size_t{a.width} * (source.wide ? 2 : 1);
    const int8_t* row = static_cast<const int8_t*>(source.data) + static_cast<size_t>(source.index[r]) * bytes;
    for (size_t i = 0; i < bytes; i += 64) prefetch_near(row + i);
  }
}

inline bool static_embed(const StaticEmbed& a) {
  if constexpr (!linked::kStatic) return false;
  constexpr uint32_t kColumns = 64;
  constexpr uint32_t kAhead = 4;
  for (uint32_t r = 0; r < a.rows; ++r) {
    if (kIntLanes == 16 && r + kAhead < a.rows) fetch_embedding(a, r + kAhead);
    for (uint32_t column = 0; column < a.width; column += kColumns) {
      const uint32_t count = a.width - column < kColumns ? a.width - column : kColumns;
      int32_t total[kColumns];
      for (uint32_t s = 0; s < a.source_count; ++s) {
        const StaticSource& source = a.sources[s];
        const auto index = static_cast<size_t>(source.index[r]);
        const Factors times = splat_factor(source.multiplier[index]);
        const RoundShift round(source.shift);
        const size_t at = index * a.width + column;
        const auto add = [&](const auto* row) {
          for (uint32_t i = 0; i < count; i += kIntLanes) {
            Ints v = round.down(multiply_add(load_ints_first(row + i, count - i), times, round.half));
            if (s != 0) v = plus(load_ints(total + i), v);
            store_ints(total + i, v);
          }
        };
        if (source.wide) {
          add(static_cast<const int16_t*>(source.data) + at);
        } else {
          add(static_cast<const int8_t*>(source.data) + at);
        }
      }
      int16_t* y = a.y + r * a.y_stride + column;
      for (uint32_t i = 0; i < count; i += kIntLanes) {
        store_ints_first(y + i, sat16(load_ints(total + i)), count - i);
      }
    }
  }
  return true;
}

/// Pools column i of the rows; sums of up to 2^24 rows stay in int32.
BANTAM_INLINE int32_t static_pool_column(const StaticPool& a, uint32_t i) {
  const int8_t* x = a.x + (a.kind == Pool::kLast ? a.row_end - 1 : a.row_begin) * a.x_stride + i;
  int32_t v = stored_byte(*x);  // NOLINT(bugprone-signed-char-misuse): numbers, not characters
  if (a.kind == Pool::kFirst || a.kind == Pool::kLast) return v;
  for (uint32_t r = a.row_begin + 1; r < a.row_end; ++r) {
    x += a.x_stride;
    const int32_t next = stored_byte(*x);  // NOLINT(bugprone-signed-char-misuse): the same
    v = a.kind != Pool::kMax ? v + next : v > next ? v : next;
  }
  return v;
}

inline bool static_pool(const StaticPool& a) {
  if constexpr (!linked::kStatic) return false;
  if (a.y != nullptr) {
    for (uint32_t i = 0; i < a.width; ++i) a.y[i] = stored_byte(static_pool_column(a, i));
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

#endif  // BANTAM_KERNELS_GENERIC_STATIC_STATIC_ROWS_H_
