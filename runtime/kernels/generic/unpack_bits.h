// Unpacks weights stored without their zeros (layout bitmask_k4n16) to int8 tiles.
#ifndef BANTAM_KERNELS_GENERIC_UNPACK_BITS_H_
#define BANTAM_KERNELS_GENERIC_UNPACK_BITS_H_

#include "kernels/generic/lanes.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

#if defined(BANTAM_KERNEL_ONE_LANE)

/// out[count][16][4] = the tiles of `count` masks. Returns the first value that they did not use.
BANTAM_NOINLINE inline const int8_t* unpack_bits(const uint64_t* masks, uint32_t count, const int8_t* values,
                                                 int8_t* out) {
  // Process the bits of a register at a time.
  const uint8_t* from = reinterpret_cast<const uint8_t*>(masks);
  for (const uint8_t* end = from + count * 8; from != end; from += 4, out += 32) {
    memset(out, 0, 32);
    uint32_t mask;
    for (memcpy(&mask, from, 4); mask != 0; mask &= mask - 1) out[__builtin_ctz(mask)] = *values++;
  }
  return values;
}

#else

/// For each byte of a mask: the positions of its eight weights among the stored ones; 0x80: not stored, the weight is
/// 0.
struct Places {
  uint64_t of[256];
};
constexpr Places make_places() {
  Places places = {};
  for (uint32_t mask = 0; mask < 256; ++mask) {
    uint64_t stored = 0;
    for (uint32_t i = 0; i < 8; ++i) {
      places.of[mask] |= ((mask >> i & 1) != 0 ? stored : 0x80) << (8 * i);
      stored += mask >> i & 1;
    }
  }
  return places;
}

/// out[0, 8) = values[place], 0 for place 0x80.
BANTAM_INLINE void place_eight(const int8_t* values, uint64_t places, int8_t* out) {
#if defined(__SSSE3__)
  const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(values));
  const __m128i placed = _mm_shuffle_epi8(eight, _mm_cvtsi64_si128(static_cast<int64_t>(places)));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), placed);
#elif defined(__wasm_simd128__)
  const v128_t placed =
      wasm_i8x16_swizzle(wasm_v128_load64_zero(values), wasm_i64x2_splat(static_cast<int64_t>(places)));
  wasm_v128_store64_lane(out, placed, 0);
#elif defined(__ARM_NEON)
  vst1_s8(out, vtbl1_s8(vld1_s8(values), vcreate_s8(places)));
#else
  for (uint32_t i = 0; i < 8; ++i, places >>= 8) out[i] = (places & 0x80) != 0 ? int8_t{0} : values[places & 7];
#endif
}

/// The same. Processes eight bytes at a time, whose positions do not depend on each other.
BANTAM_NOINLINE inline const int8_t* unpack_bits(const uint64_t* masks, uint32_t count, const int8_t* values,
                                                 int8_t* out) {
  static constexpr Places kPlaces = make_places();
  for (uint32_t i = 0; i < count; ++i, out += 64) {
    const uint64_t mask = masks[i];
    const uint64_t ends = set_bits_through_bytes(mask);
    place_eight(values, kPlaces.of[mask & 0xFF], out);
    BANTAM_UNROLL_ALWAYS
    for (uint32_t b = 1; b < 8; ++b) {
      place_eight(values + (ends >> (8 * b - 8) & 0xFF), kPlaces.of[mask >> (8 * b) & 0xFF], out + 8 * b);
    }
    values += ends >> 56;
  }
  return values;
}

#endif

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_UNPACK_BITS_H_
