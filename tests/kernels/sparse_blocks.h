// Converts weights in tiles to sparse weights (layout sparse_1x4), for calls of kernels.
#ifndef BANTAM_TESTS_KERNELS_SPARSE_BLOCKS_H_
#define BANTAM_TESTS_KERNELS_SPARSE_BLOCKS_H_

#include <algorithm>
#include <vector>

#include "tests/kernels/support.h"

namespace bantam::kernels::test {

class SparseWeights {
 public:
  /// Takes the blocks of `w`, tiles [n/16][k/4][16][4], that are not all 0. The outputs of a span are in reverse order;
  /// outputs with fewer blocks than others of their group get blocks of zeros.
  void take(const int8_t* w, uint32_t n, uint32_t k) {
    std::vector<int8_t> blocks;
    std::vector<uint16_t> index;
    order_ = Guarded(n);
    ends_ = Guarded(size_t{n});
    const auto four_of = [w, k](uint32_t output, uint32_t quad) {
      return w + (size_t{output / 16} * (k / 4) + quad) * 64 + output % 16 * 4;
    };
    for (uint32_t group = 0; group < n / 4; ++group) {
      const uint32_t first = group * 4 / kSparseSpan * kSparseSpan;
      const uint32_t span = std::min(kSparseSpan, n - first);
      std::vector<uint16_t> found[4];
      size_t most = 0;
      for (uint32_t j = 0; j < 4; ++j) {
        const uint32_t place = group * 4 + j - first;
        order_.data()[first + place] = static_cast<uint8_t>(span - 1 - place);
        for (uint32_t quad = 0; quad < k / 4; ++quad) {
          const int8_t* four = four_of(first + span - 1 - place, quad);
          if ((four[0] | four[1] | four[2] | four[3]) != 0) found[j].push_back(static_cast<uint16_t>(quad));
        }
        most = std::max(most, found[j].size());
      }
      for (size_t step = 0; step < most; ++step) {
        for (uint32_t j = 0; j < 4; ++j) {
          const uint32_t output = first + order_.data()[group * 4 + j];
          const bool here = step < found[j].size();
          const uint16_t quad = here ? found[j][step] : static_cast<uint16_t>(k / 4 - 1);
          index.push_back(quad);
          const int8_t* four = four_of(output, quad);
          for (uint32_t i = 0; i < 4; ++i) blocks.push_back(here ? four[i] : int8_t{0});
        }
      }
      ends_.as<uint32_t>()[group] = static_cast<uint32_t>(index.size() / 4);
    }
    blocks_ = Guarded(blocks.size());
    std::copy(blocks.begin(), blocks.end(), blocks_.as<int8_t>());
    index_ = Guarded(index.size() * 2);
    std::copy(index.begin(), index.end(), index_.as<uint16_t>());
    scratch_ = Guarded(sparse_scratch(k));
  }

  int8_t* weights() { return blocks_.as<int8_t>(); }
  SparseBlocks places() { return {index_.as<uint16_t>(), ends_.as<uint32_t>(), order_.data(), 0}; }
  int8_t* scratch() { return scratch_.as<int8_t>(); }

 private:
  Guarded blocks_, index_, ends_, order_, scratch_;
};

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_SPARSE_BLOCKS_H_
