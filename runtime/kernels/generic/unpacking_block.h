// The first rows of a layer with 4-bit weights (layout tile_i4_k8n16), if there are enough registers: a block unpacks
// int8 weights in registers, multiplies them and stores them in scratch for the rows after it. Unpacking and
// multiplying use different units of the processor; one after the other, or through memory, they take a tenth longer at
// 16 rows.
#ifndef BANTAM_KERNELS_GENERIC_UNPACKING_BLOCK_H_
#define BANTAM_KERNELS_GENERIC_UNPACKING_BLOCK_H_

#include "kernels/generic/dot_block.h"
#include "kernels/generic/linear.h"
#include "kernels/generic/unpack_int4.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Computes the first kRows rows of `some`, which has panels [panel, panel + kPanels) of `a` as int8, and writes their
/// weights to some.w. Returns false if some y is not finite.
template <uint32_t kRows, uint32_t kPanels>
BANTAM_NOINLINE bool unpacking_block(const LinearQ8& a, const LinearQ8& some, uint32_t panel) {
  RegisterBlock<kRows, kPanels> block;
  start_sums<kPanels>(block, some.w_sum);
  const size_t w_stride = size_t{pad8(a.k)} * 8, out_stride = size_t{a.k} * 16;
  const size_t factor_stride = size_t{int4_groups(a.k, a.group)} * 16;
  const uint8_t* w = static_cast<const uint8_t*>(static_cast<const void*>(a.w)) + panel * w_stride;
  SideBySide<kPanels, codes_ahead(kPanels)> ahead(w, w_stride);
  const uint8_t* factors = a.factors + panel * factor_stride;
  const int8_t* x = some.x;
  int8_t* out = a.scratch;
  for (uint32_t left = a.k, count = 0; left != 0; left -= count, factors += 16) {
    count = left < a.group ? left : a.group;
    GroupUnpacker group[kPanels];
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) group[p] = GroupUnpacker(factors + p * factor_stride);
    for (uint32_t i = 0; i < count; i += 8, w += 64, x += 8, out += 128) {
      const bool both = i + 4 < count;
      ahead.fetch();
      Weights first[kPanels], second[kPanels];
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) {
        group[p].take(w + p * w_stride, first[p], second[p]);
        GroupUnpacker::store(first[p], out + p * out_stride);
        if (both) GroupUnpacker::store(second[p], out + p * out_stride + 64);
      }
      block.add_quad(x, a.x_stride, first);
      if (both) block.add_quad(x + 4, a.x_stride, second);
    }
  }
  return store_block<kRows, kPanels>(
      some, 0, 0, [&](uint32_t r, uint32_t p) __attribute__((always_inline)) { return block.get(r, p); });
}

/// The fewest rows of the first block.
constexpr uint32_t kLeastUnpacking = kCodesRows < kMaxRows / 2 ? kCodesRows + 1 : kMaxRows / 2 + 1;

/// Computes the first rows of `some`; returns their number.
template <uint32_t... kIndex>
BANTAM_INLINE uint32_t unpacking_with(const LinearQ8& a, const LinearQ8& some, uint32_t panel, bool* finite,
                                      Indices<kIndex...>) {
  using Block = bool (*)(const LinearQ8& a, const LinearQ8& some, uint32_t panel);
  static constexpr Block kBlocks[] = {unpacking_block<kLeastUnpacking + kIndex, kUnpackedPanels>...};
  const uint32_t rows = RowSplit(a.rows, kMaxRows).rows_of(0);
  *finite &= kBlocks[rows - kLeastUnpacking](a, some, panel);
  return rows;
}
BANTAM_INLINE uint32_t multiply_unpacking(const LinearQ8& a, const LinearQ8& some, uint32_t panel, bool* finite) {
  return unpacking_with(a, some, panel, finite, MakeIndices<kMaxRows - kLeastUnpacking + 1>::type{});
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_UNPACKING_BLOCK_H_
