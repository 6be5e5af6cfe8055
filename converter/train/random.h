// A random number generator and distributions that are the same on every machine.
#ifndef BANTAM_CONVERTER_TRAIN_RANDOM_H_
#define BANTAM_CONVERTER_TRAIN_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "format/split_mix.h"

namespace bantam::train {

/// SplitMix64. The distributions of the standard library differ between implementations.
class Random {
 public:
  /// `stream` separates the numbers drawn from one seed for different purposes (an epoch, a step).
  explicit Random(uint64_t seed, uint64_t stream = 0) : state_(seed) {
    state_ = next() ^ stream;
    state_ = next();
  }

  uint64_t next() { return split_mix(state_ += kSplitMixStep); }
  /// Returns a number in [0, count); count > 0. The bias is below count / 2^64.
  size_t below(size_t count) { return static_cast<size_t>(next() % count); }
  /// Returns a number in [0, 1).
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// The Fisher-Yates shuffle.
  template <typename T>
  void shuffle(std::vector<T>* values) {
    for (size_t i = values->size(); i > 1; --i) std::swap((*values)[i - 1], (*values)[below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_RANDOM_H_
