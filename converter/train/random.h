// Random numbers that are the same on every machine: a generator and what is drawn from it.
#ifndef BANTAM_CONVERTER_TRAIN_RANDOM_H_
#define BANTAM_CONVERTER_TRAIN_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "format/split_mix.h"

namespace bantam::train {

/// SplitMix64. The standard library's distributions differ from one to the next.
class Random {
 public:
  /// `stream` keeps apart what is drawn from one seed for several purposes (an epoch, a step).
  explicit Random(uint64_t seed, uint64_t stream = 0) : state_(seed) {
    state_ = next() ^ stream;
    state_ = next();
  }

  uint64_t next() { return split_mix(state_ += kSplitMixStep); }
  /// In [0, count); count > 0. The bias is below count / 2^64.
  size_t below(size_t count) { return static_cast<size_t>(next() % count); }
  /// In [0, 1).
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Fisher and Yates.
  template <typename T>
  void shuffle(std::vector<T>* values) {
    for (size_t i = values->size(); i > 1; --i) std::swap((*values)[i - 1], (*values)[below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_RANDOM_H_
