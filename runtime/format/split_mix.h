// SplitMix64 (Steele, Lea, Flood 2014): random numbers that are the same on every machine.
#ifndef BANTAM_FORMAT_SPLIT_MIX_H_
#define BANTAM_FORMAT_SPLIT_MIX_H_

#include <stdint.h>

namespace bantam {

/// The increment of a generator's state per number.
constexpr uint64_t kSplitMixStep = 0x9E3779B97F4A7C15u;

/// Returns the output of a generator for the new state `state`: 64 well-mixed bits.
constexpr uint64_t split_mix(uint64_t state) {
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace bantam

#endif  // BANTAM_FORMAT_SPLIT_MIX_H_
