// The dot-product and FMA peaks of the core for one instruction set: independent accumulators, operands in registers.
// Compiled once for each instruction set, like the kernels.
#ifndef BANTAM_TESTS_BENCH_KERNELS_PEAK_H_
#define BANTAM_TESTS_BENCH_KERNELS_PEAK_H_

#include "kernels/generic/config.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Vectors of 16 accumulators in flight; each is one, two or four registers.
constexpr uint32_t kInFlight = kMaxRows >= 8 ? 16 : 6;

/// Hides where a value comes from, so that the compiler takes no two of them for one and hoists nothing.
template <class T>
BANTAM_INLINE void hide(T& value) {
  __asm__ volatile("" : "+m"(value));
}

/// int8 multiplications of `rounds` rounds.
BANTAM_NOINLINE uint64_t peak_int8(uint32_t rounds, int32_t* sink) {
  alignas(64) int8_t bytes[64] = {};
  Accumulator acc[kInFlight];
  BANTAM_UNROLL
  for (uint32_t i = 0; i < kInFlight; ++i) {
    I32x16 start = splat(*sink);
    hide(start);
    acc[i] = Accumulator(start);
  }
  for (uint32_t r = 0; r < rounds; ++r) {
    hide(bytes);
    const Weights weights = load_weights(bytes);
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kInFlight; ++i) {
      // Another activation each time: nothing that an instruction set derives from it can be shared.
      acc[i].add(signed_quad(bytes + i % 16 * 4), weights);
    }
  }
  I32x16 total = acc[0].get();
  BANTAM_UNROLL
  for (uint32_t i = 1; i < kInFlight; ++i) total = total + acc[i].get();
  *sink = sum(total) & 1;
  return uint64_t{rounds} * kInFlight * 64;
}

/// f32 multiplications of `rounds` rounds.
BANTAM_NOINLINE uint64_t peak_f32(uint32_t rounds, int32_t* sink) {
  F32x16 x = to_f32(splat(*sink));
  hide(x);
  F32x16 acc[kInFlight];
  BANTAM_UNROLL
  for (uint32_t i = 0; i < kInFlight; ++i) {
    acc[i] = to_f32(splat(*sink));
    hide(acc[i]);
  }
  for (uint32_t r = 0; r < rounds; ++r) {
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kInFlight; ++i) acc[i] = fma(acc[i], x, x);
  }
  F32x16 total = acc[0];
  BANTAM_UNROLL
  for (uint32_t i = 1; i < kInFlight; ++i) total = total + acc[i];
  *sink = sum(total) > 0.5f ? 1 : 0;
  return uint64_t{rounds} * kInFlight * 16;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_TESTS_BENCH_KERNELS_PEAK_H_
