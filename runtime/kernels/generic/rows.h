// Helpers of the row operations: loops over a row's vectors, q8 rows, finiteness.
#ifndef BANTAM_KERNELS_GENERIC_ROWS_H_
#define BANTAM_KERNELS_GENERIC_ROWS_H_

#include "kernels/generic/lanes.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr int32_t kInfinityBits = 0x7f800000;

#if !defined(BANTAM_KERNEL_FLUSHES_TINY)
/// Where an instruction set takes numbers below 2^-126 for zero, it has this to tell; others never do.
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
/// Only the first `count` lanes do; keep_row sets the others to +0.
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

/// Does as for_vectors for rows whose width is known to be whole vectors where there are four lanes.
template <class F>
BANTAM_INLINE void for_row(uint32_t width, const F& f) {
  if constexpr (kLanes != 4) return for_vectors(width, f);
  for (uint32_t i = 0; i < width; i += kLanes) f(i, AllLanes{});
}

/// Notes values, and says if all of them are finite.
struct Finite {
#if defined(__ARM_FEATURE_FMA)
  F32 poison = splat(0.0f);  // NaN once something times 0 was
  BANTAM_TINY void note(F32 v) { poison = fma(v, splat(0.0f), poison); }
  BANTAM_TINY bool all() const { return largest(magnitude_bits(poison)) == 0; }
#else
  I32 worst = splat(int32_t{0});
  BANTAM_TINY void note(F32 v) { worst = max(worst, magnitude_bits(v)); }
  BANTAM_TINY bool all() const { return largest(worst) < kInfinityBits; }
#endif
};

/// From any address, reading the row's own elements only.
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
/// Zeros in a q8 row from its width on: for_vectors has stored them where vectors are as wide as the padding.
BANTAM_INLINE void clear_padding(int8_t* q, uint32_t width) {
  if constexpr (kLanes < 16) memset(q + width, kOffsetXor, pad16(width) - width);
}

/// Lane i of the result, i < kCount: what v[i] reduces to, by `one`; other lanes hold anything. `eight` folds eight vectors
/// at once where the instruction set does that, at a third of the cost.
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
/// The sums, in the order of `sum`, and the largest lanes.
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

/// Between int8 values and how a session stores them (kOffsetXor); the high bits of lanes are ignored by store_bytes.
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
/// Rows that are smaller than 2^-100 throughout are stored as zeros with scale 1.
constexpr int32_t kTinyBits = (127 - 100) << 23;
constexpr float kTiny = 0x1p-100f;
BANTAM_INLINE RowScale row_scale(int32_t m) {
  if (m < kTinyBits) return {1.0f, 0.0f};
  const float largest_value = float_of_bits(m);
  return {largest_value / 127.0f, 127.0f / largest_value};
}

/// For store_bytes: of one lane the low byte only, which needs no subtraction after it was rounded (round_to_i32).
BANTAM_TINY I32 quantize(F32 v, F32 inverse) {
  if constexpr (kLanes == 1) return bits(v * inverse + splat(12582912.0f));
  return round_to_i32(v * inverse);
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_ROWS_H_
