// Helpers of the row operations: loops over a row's vectors, q8 rows, finiteness.
#ifndef BANTAM_KERNELS_GENERIC_ROWS_H_
#define BANTAM_KERNELS_GENERIC_ROWS_H_

#include "kernels/generic/lanes.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr int32_t kInfinityBits = 0x7f800000;

#if !defined(BANTAM_KERNEL_FLUSHES_TINY)
/// Instruction sets that treat numbers below 2^-126 as zero define TinyNumbers to detect that; others never do so.
struct TinyNumbers {
  static constexpr bool seen(int32_t) { return false; }
};
constexpr bool kFlushesTiny = false;
#endif

/// All lanes belong to the row.
struct AllLanes {
  static constexpr uint32_t count = kLanes;
  static BANTAM_TINY F32 keep_row(F32 v) { return v; }
};
/// Only the first `count` lanes belong to the row; keep_row sets the others to +0.
struct SomeLanes {
  uint32_t count;
  LaneMask mask;
  BANTAM_TINY F32 keep_row(F32 v) const { return keep(mask, v); }
};

/// Calls f(i, lanes) for i = 0, kLanes, ... below width.
template <class F>
BANTAM_INLINE void for_vectors(uint32_t width, const F& f) {
  const uint32_t full = width / kLanes * kLanes;
  for (uint32_t i = 0; i < full; i += kLanes) f(i, AllLanes{});
  if constexpr (kLanes > 1) {
    if (full == width) return;
    const uint32_t count = width - full;
    f(full, SomeLanes{count, lanes_between(0, static_cast<int32_t>(count))});
  }
}

/// Does the same as for_vectors for rows whose width must be whole vectors if there are four lanes.
template <class F>
BANTAM_INLINE void for_row(uint32_t width, const F& f) {
  if constexpr (kLanes != 4) return for_vectors(width, f);
  for (uint32_t i = 0; i < width; i += kLanes) f(i, AllLanes{});
}

/// Records values and tells whether all of them are finite.
struct Finite {
#if defined(__ARM_FEATURE_FMA)
  F32 poison = splat(0.0f);  // NaN once some value times 0 was NaN
  BANTAM_TINY void note(F32 v) { poison = fma(v, splat(0.0f), poison); }
  BANTAM_TINY bool all() const { return largest(magnitude_bits(poison)) == 0; }
#else
  I32 worst = splat(int32_t{0});
  BANTAM_TINY void note(F32 v) { worst = max(worst, magnitude_bits(v)); }
  BANTAM_TINY bool all() const { return largest(worst) < kInfinityBits; }
#endif
};

/// Loads and stores at any address access only the row's own elements.
BANTAM_INLINE F32 load_lanes(const float* p, AllLanes) { return load(p); }
BANTAM_INLINE F32 load_lanes(const float* p, SomeLanes lanes) { return load_first(p, lanes.count); }
BANTAM_INLINE void store_lanes(float* p, F32 v, AllLanes) { store(p, v); }
BANTAM_INLINE void store_lanes(float* p, F32 v, SomeLanes lanes) { store_first(p, v, lanes.count); }
BANTAM_INLINE I32 load_i8_lanes(const int8_t* p, AllLanes) { return load_i8(p); }
BANTAM_INLINE I32 load_i8_lanes(const int8_t* p, SomeLanes lanes) {
  int8_t buffer[16] = {};
  memcpy(buffer, p, lanes.count);
  return load_i8(buffer);
}
BANTAM_INLINE void store_bytes_lanes(void* p, I32 v, AllLanes) { store_bytes(p, v); }
BANTAM_INLINE void store_bytes_lanes(void* p, I32 v, SomeLanes lanes) {
  uint8_t buffer[16];
  store_bytes(buffer, v);
  memcpy(p, buffer, lanes.count);
}
/// Sets the padding of a q8 row to zero; not needed if vectors are as wide as the padding, because for_vectors has
/// stored zeros there.
BANTAM_INLINE void clear_padding(int8_t* q, uint32_t width) {
  if constexpr (kLanes < 16) memset(q + width, kOffsetXor, pad16(width) - width);
}

/// Lane i of the result, i < kCount, is the reduction of v[i] by `one`; other lanes are undefined. `eight` folds eight
/// vectors at once if the instruction set supports that, at a third of the cost.
template <class Vector, uint32_t kCount, class One, class Eight>
BANTAM_INLINE Vector across_lanes(const Vector (&v)[kCount], const One& one, const Eight& eight) {
  static_assert(kCount <= 8, "");
  if constexpr (kFoldsEight && kCount > 2) {
    Vector all[8];
    BANTAM_UNROLL
    for (uint32_t i = 0; i < 8; ++i) all[i] = v[i < kCount ? i : 0];
    return eight(all);
  } else {
    decltype(one(v[0])) lanes[16] = {};
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) lanes[i] = one(v[i]);
    return load(lanes);
  }
}
/// The sums, in the order of `sum`, and the maxima over lanes.
template <class SomeSums, uint32_t kCount>
BANTAM_INLINE F32 sums_of(const SomeSums (&v)[kCount]) {
  if constexpr (kVectors == 1) {
    return across_lanes(
        v, [](const auto& x) __attribute__((always_inline)) { return sum(x); },
        [](const auto& x) __attribute__((always_inline)) { return sum_eight(x); });
  } else {
    static_assert(kCount == 1, "one row at a time");
    return splat(total(v[0]));
  }
}
template <class Vector, uint32_t kCount>
BANTAM_INLINE Vector largest_of(const Vector (&v)[kCount]) {
  return across_lanes(
      v, [](const auto& x) __attribute__((always_inline)) { return largest(x); },
      [](const auto& x) __attribute__((always_inline)) { return largest_of_eight(x); });
}

/// Converts between int8 values and their stored form (kOffsetXor); store_bytes ignores the high bits of lanes.
BANTAM_TINY I32 flip_offset(I32 v) {
  if constexpr (kOffsetXor != 0) return v ^ splat(int32_t{-128});
  return v;
}

BANTAM_TINY float float_of_bits(int32_t b) {
  float f;
  memcpy(&f, &b, sizeof f);
  return f;
}

BANTAM_TINY bool is_finite(float v) {
  int32_t b;
  memcpy(&b, &v, sizeof b);
  return (b & 0x7fffffff) < kInfinityBits;
}

/// Scale of a q8 row whose largest |v| has the bits `m`.
struct RowScale {
  float scale;    // m / 127
  float inverse;  // 127 / m; v * inverse never rounds beyond +-127
};
/// Rows whose values are all smaller than 2^-100 are stored as zeros with scale 1.
constexpr int32_t kTinyBits = (127 - 100) << 23;
constexpr float kTiny = 0x1p-100f;
BANTAM_INLINE RowScale row_scale(int32_t m) {
  if (m < kTinyBits) return {1.0f, 0.0f};
  const float largest_value = float_of_bits(m);
  return {largest_value / 127.0f, 127.0f / largest_value};
}

/// For store_bytes: on one lane only the low byte, which needs no subtraction after rounding (round_to_i32).
BANTAM_TINY I32 quantize(F32 v, F32 inverse) {
  if constexpr (kLanes == 1) return bits(v * inverse + splat(12582912.0f));
  return round_to_i32(v * inverse);
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_ROWS_H_
