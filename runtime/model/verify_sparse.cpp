// Sparse weights: kernels follow what lies among their data, so it is read before anything runs.
#include <string.h>

#include "kernels/kernels.h"
#include "model/verify.h"

namespace bantam {
namespace {

template <typename T>
T read(const uint8_t* p, size_t index) {
  T value;
  memcpy(&value, p + index * sizeof(T), sizeof(T));
  return value;
}

/// Every output of a span has one place.
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

/// Layout sparse_1x4 of `padded` outputs by `quads` times four inputs.
Verdict check_blocks(const fb::Tensor& t, const uint8_t* bytes, uint32_t padded, uint32_t quads) {
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

/// Layout bitmask_k4n16 with `tiles` masks.
Verdict check_masks(const fb::Tensor& t, const uint8_t* bytes, size_t tiles) {
  const size_t stored = static_cast<size_t>(t.data()->size()) - tiles * sizeof(uint64_t) - kernels::kBitmaskSlack;
  size_t found = 0;
  for (size_t i = 0; i < tiles; ++i) {
    found += static_cast<size_t>(kernels::set_bits_through_bytes(read<uint64_t>(bytes, i)) >> 56);
  }
  return found == stored ? Verdict{} : corrupt("a bitmask tells of other weights than are stored");
}

Verdict check_weights(const fb::Tensor& t, const uint8_t* bytes) {
  if (linked::kBitmask && bitmask_weights(t)) return check_masks(t, bytes, bitmask_bytes(t) / sizeof(uint64_t));
  return check_blocks(t, bytes, kernels::pad16(extent(t, 0)), kernels::pad4(extent(t, 1)) / 4);
}

}  // namespace

Verdict check_sparse(const fb::Model& model, const uint8_t* data, size_t data_size) {
  size_t unread = data_size;  // so that tensors of the same bytes cannot make this slow
  for (uint32_t i = 0; i < model.tensors()->size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    const fb::Tensor& t = tensor(model, index);
    const bool read = (linked::kSparse && sparse_weights(t)) || (linked::kBitmask && bitmask_weights(t));
    if (!is_constant(t) || !read) continue;
    const auto size = static_cast<size_t>(t.data()->size());
    if (size > unread) return corrupt("sparse weights share their data", index);
    unread -= size;
    const Verdict verdict = check_weights(t, data + static_cast<size_t>(t.data()->offset()));
    if (!verdict.ok()) return verdict.of(index);
  }
  return {};
}

}  // namespace bantam
