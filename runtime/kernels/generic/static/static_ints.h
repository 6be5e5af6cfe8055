// Vectors of integers for the static kernels: one lane, which compilers vectorize if they can, or the vectors of an
// instruction set that defines BANTAM_KERNEL_OWN_INTS and the same names before this.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_STATIC_INTS_H_
#define BANTAM_KERNELS_GENERIC_STATIC_STATIC_INTS_H_

// For microcontrollers with a saturation instruction. Linux on 32-bit ARM has it, too, but its compiler uses other
// types for it.
#if defined(__ARM_FEATURE_SAT) && __ARM_ARCH_PROFILE == 'M'
#define BANTAM_KERNEL_SATURATES
#include <arm_acle.h>
#endif

#include "kernels/generic/config.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

BANTAM_TINY int32_t wrapping_add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
BANTAM_TINY int32_t clamp(int32_t v, int32_t low, int32_t high) { return v < low ? low : v > high ? high : v; }

/// Numbers of a loop, and offsets that are subtracted from or added to all lanes.
#if !defined(BANTAM_KERNEL_OWN_INTS)
using Ints = int32_t;
constexpr uint32_t kIntLanes = 1;

/// 16-bit numbers that other 16-bit numbers are multiplied by: vectors have a separate form for them.
using Factors = Ints;

template <class T>
BANTAM_TINY Ints load_ints(const T* p) {
  return *p;
}
BANTAM_TINY Factors load_factors(const int16_t* p) { return *p; }
BANTAM_TINY Factors splat_factor(int32_t a) { return a; }
template <class T>
BANTAM_TINY void store_ints(T* p, Ints v) {
  *p = static_cast<T>(v);  // the low bits
}
/// table[v + 128] for lanes in [-128, 127].
BANTAM_TINY Ints lookup_ints(const int8_t* table, Ints v) { return table[v + 128]; }
BANTAM_TINY Ints splat_ints(int32_t a) { return a; }
BANTAM_TINY Ints plus(Ints a, Ints b) { return wrapping_add(a, b); }
BANTAM_TINY Ints minus(Ints a, int32_t b) { return a - b; }
/// a * b + c, which wraps; of two numbers, or of a 16-bit number and a factor.
BANTAM_TINY Ints multiply_add(Ints a, Ints b, int32_t c) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b) + static_cast<uint32_t>(c));
}
#if defined(BANTAM_KERNEL_SATURATES)
BANTAM_TINY Ints sat16(Ints v) { return __ssat(v, 16); }
BANTAM_TINY Ints byte_range(Ints v) { return __ssat(v, 8); }
#else
BANTAM_TINY Ints sat16(Ints v) { return clamp(v, -32768, 32767); }
BANTAM_TINY Ints byte_range(Ints v) { return clamp(v, -128, 127); }
#endif
BANTAM_TINY Ints sat8(Ints v) {
  const Ints byte = byte_range(v);
  return byte < -127 ? -127 : byte;
}
BANTAM_TINY Ints flip(Ints v, int32_t bits) { return v ^ bits; }
/// A running sum of lanes.
using IntTotal = int32_t;
BANTAM_TINY IntTotal no_ints() { return 0; }
BANTAM_TINY IntTotal add_lanes(IntTotal total, Ints v) { return total + v; }
BANTAM_TINY int32_t total_of(IntTotal total) { return total; }
/// A running sum of the squares of lanes; lanes are differences of two int16.
using SquareTotal = uint64_t;
BANTAM_TINY SquareTotal no_squares() { return 0; }
BANTAM_TINY uint64_t total_of(SquareTotal total) { return total; }
BANTAM_TINY SquareTotal add_squares(SquareTotal total, Ints v) {
#if defined(__ARM_FEATURE_DSP)
  return total + static_cast<uint64_t>(int64_t{v} * v);  // one instruction
#else
  const auto d = static_cast<uint32_t>(v);
  return total + d * d;
#endif
}
/// floor((v + 2^(shift-1)) / 2^shift), `shift` less than 32; the addition wraps.
struct RoundShift {
  int32_t half;
  uint32_t shift;
  BANTAM_TINY explicit RoundShift(uint32_t by) : half(static_cast<int32_t>((uint32_t{1} << by) >> 1)), shift(by) {}
  BANTAM_TINY Ints operator()(Ints v) const { return down(wrapping_add(v, half)); }
  /// Shifts numbers to which `half` was already added.
  BANTAM_TINY Ints down(Ints v) const { return v >> shift; }
};
#endif

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_STATIC_INTS_H_
