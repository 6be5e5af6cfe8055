// Layouts in which not all data is allowed: kernels follow the positions in weights without their zeros, and expect
// three of the four codes of ternary ones. So the data is checked before anything runs.
#include "ops/weights.h"

#include <string.h>

namespace bantam::ops {
namespace {

template <typename T>
T read(const uint8_t* p, size_t index) {
  T value;
  memcpy(&value, p + index * sizeof(T), sizeof(T));
  return value;
}

/// Checks that the outputs of every span are a permutation.
bool is_order(const uint8_t* order, uint32_t outputs) {
  static_assert(kernels::kSparseSpan == 64, "a bit for each output");
  for (uint32_t first = 0; first < outputs; first += kernels::kSparseSpan) {
    const uint32_t span = outputs - first < kernels::kSparseSpan ? outputs - first : kernels::kSparseSpan;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < span; ++i) {
      if (order[first + i] >= span) return false;
      seen |= uint64_t{1} << order[first + i];
    }
    if (seen != ~uint64_t{0} >> (kernels::kSparseSpan - span)) return false;
  }
  return true;
}

}  // namespace

#if BANTAM_IF_LINKED(Ternary)
Verdict TernaryTiles::check(const fb::Tensor& t, const uint8_t* bytes) {
  const auto words = static_cast<size_t>(TernaryTiles::bytes(kernels::pad16(extent(t, 0)), extent(t, 1)) / 8);
  uint64_t threes = 0;  // both bits of a code are set
  for (size_t i = 0; i < words; ++i) {
    const auto codes = read<uint64_t>(bytes, i);
    threes |= codes & codes >> 1 & 0x5555555555555555u;
  }
  return threes == 0 ? Verdict{} : corrupt("a ternary weight is none of -1, 0 and 1");
}
#endif

Verdict SparseBlocks::check(const fb::Tensor& t, const uint8_t* bytes) {
  const uint32_t padded = kernels::pad16(extent(t, 0));
  const uint32_t quads = kernels::pad4(extent(t, 1)) / 4;
  const auto rest = static_cast<size_t>(t.data()->size() - sparse_order_bytes(padded));
  if (rest % kSparseStepBytes != 0) return corrupt("sparse weights are not a whole number of steps");
  const size_t steps = sparse_steps(t, padded);
  const uint8_t* index = bytes + steps * 16;
  for (size_t i = 0; i < steps * 4; ++i) {
    if (read<uint16_t>(index, i) >= quads) return corrupt("a block of sparse weights lies beyond the inputs");
  }
  const uint8_t* ends = index + steps * 8;
  uint32_t last = 0;
  for (uint32_t group = 0; group < padded / 4; ++group) {
    const auto end = read<uint32_t>(ends, group);
    if (end < last) return corrupt("groups of sparse weights are not in order");
    last = end;
  }
  if (last != steps) return corrupt("groups of sparse weights do not take all steps");
  return is_order(ends + padded, padded) ? Verdict{} : corrupt("outputs of sparse weights are not in one place each");
}

Verdict Bitmasks::check(const fb::Tensor& t, const uint8_t* bytes) {
  const size_t tiles = bitmask_bytes(t) / sizeof(uint64_t);
  const size_t stored = static_cast<size_t>(t.data()->size()) - tiles * sizeof(uint64_t) - kernels::kBitmaskSlack;
  size_t found = 0;
  for (size_t i = 0; i < tiles; ++i) {
    found += static_cast<size_t>(kernels::set_bits_through_bytes(read<uint64_t>(bytes, i)) >> 56);
  }
  return found == stored ? Verdict{} : corrupt("a bitmask tells of other weights than are stored");
}

}  // namespace bantam::ops
