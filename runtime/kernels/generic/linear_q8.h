// linear_q8 on 16 lanes: sums stay in registers until they are converted to values.
#ifndef BANTAM_KERNELS_GENERIC_LINEAR_Q8_H_
#define BANTAM_KERNELS_GENERIC_LINEAR_Q8_H_

#include "kernels/generic/dot_block.h"
#include "kernels/generic/linear.h"
#if defined(BANTAM_KERNEL_CODES)
#include "kernels/generic/linear_codes.h"
#endif
#include "kernels/generic/linear_sparse.h"
#include "kernels/generic/unpack.h"
#if defined(BANTAM_KERNEL_UNPACKS_IN_BLOCKS)
#include "kernels/generic/unpacking_block.h"
#endif

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Computes rows [row, row + kRows) by panels [panel, end). Returns false if some y is not finite.
template <uint32_t kRows, uint32_t kPanels, bool kWords>
BANTAM_NOINLINE bool linear_q8_block(const LinearQ8& a, uint32_t row, uint32_t panel, uint32_t end, Ahead ahead) {
  bool finite = true;
  multiply_groups<kRows, kPanels, kWords>(
      a, row, panel, end, ahead,
      [&](auto& block, uint32_t first)
          __attribute__((always_inline)) { start_sums<kPanels>(block, a.w_sum + first * 16); },
      [&](const auto& block, uint32_t first) __attribute__((always_inline)) {
        finite &= store_block<kRows, kPanels>(
            a, row, first, [&](uint32_t r, uint32_t p) __attribute__((always_inline)) { return block.get(r, p); });
      });
  return finite;
}

static_assert(even_blocks(block_panels, kMaxRows), "see linear_blocks");

template <uint32_t kRows, bool kWords>
constexpr BlockChoice<LinearQ8> q8_choice() {
  return {linear_q8_block<kRows, block_panels(kRows), kWords>, linear_q8_block<kRows, 1, false>, block_panels(kRows)};
}

template <bool kWords, uint32_t... kIndex>
BANTAM_INLINE bool linear_q8_of(const LinearQ8& a, Indices<kIndex...>) {
  static constexpr BlockChoice<LinearQ8> kChoices[] = {q8_choice<kIndex + 1, kWords>()...};
  return linear_blocks<kGroups>(a, kChoices, sizeof...(kIndex));
}

BANTAM_INLINE bool linear_q8_with(const LinearQ8& a) {
  using Blocks = MakeIndices<kMaxRows>::type;
  if constexpr (kWordsFaster) {
    if (a.fits_words) return linear_q8_of<true>(a, Blocks{});
  }
  return linear_q8_of<false>(a, Blocks{});
}

/// Unpacks some panels at a time to int8, which the blocks of all rows then read from the nearest cache.
inline bool linear_unpacked(const LinearQ8& a) {
  LinearQ8 some = a;
  some.w = a.scratch;
  const uint32_t panels = a.n / 16;
  bool finite = true;
  Unpacker unpacker(a);
  for (uint32_t panel = 0, count = 0; panel < panels; panel += count) {
    count = panels - panel < kUnpackedPanels ? panels - panel : kUnpackedPanels;
    some.n = count * 16;
    some.w_scale = a.w_scale + panel * 16;
    some.w_sum = a.w_sum + panel * 16;
    some.bias = a.bias != nullptr ? a.bias + panel * 16 : nullptr;
    some.y = a.y + panel * 16;
    uint32_t done = 0;
#if defined(BANTAM_KERNEL_UNPACKS_IN_BLOCKS)
    if (a.factors != nullptr && count == kUnpackedPanels) done = multiply_unpacking(a, some, panel, &finite);
#endif
    for (uint32_t p = 0; done == 0 && p < count; ++p) {
      unpacker.take(panel + p, 0, a.k, a.scratch + size_t{p} * a.k * 16);
    }
    if (done != a.rows) finite &= linear_q8_with(rows_from(some, done));
  }
  return finite;
}

inline bool linear_q8(const LinearQ8& a) {
  if (a.k16) return linear_k16(a);
  if (a.row_maximum != nullptr) memset(a.row_maximum, 0, a.rows * 16 * sizeof(int32_t));
#if defined(BANTAM_KERNEL_CODES)
  if (a.factors != nullptr && a.rows <= kCodesRows) return linear_codes<Int4Codes>(a);
  if (a.ternary && a.rows <= kCodesRows) return linear_codes<TernaryCodes>(a);
#endif
  if (Unpacker::wanted(a)) return linear_unpacked(a);
  if (linked::kSparse && a.sparse.ends != nullptr) return linear_sparse(a);
  return linear_q8_with(a);
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_LINEAR_Q8_H_
