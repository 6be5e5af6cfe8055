// static_linear: the blocks of linear_q8, whose sums are converted to numbers of fewer bits. Include it last: it needs
// linear_q8.h or linear_sums.h before it.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_STATIC_LINEAR_H_
#define BANTAM_KERNELS_GENERIC_STATIC_STATIC_LINEAR_H_

#include "kernels/generic/linear.h"
#include "kernels/generic/static/static_store.h"
#if !defined(BANTAM_KERNEL_ONE_LANE)
#include "kernels/generic/static/static_sparse.h"
#endif

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

#if !defined(BANTAM_KERNEL_OWN_REPEATED_ROWS) && defined(BANTAM_KERNEL_ONE_LANE)
/// dot_block for the same rows and successive panels.
struct RepeatedRows {
  BANTAM_INLINE void dot(const int8_t* x, const DotBlock& a) { dot_block(x, a); }
};
#endif

/// State of a block of rows that keeps nothing between calls of `dot`.
struct NothingOfRows {};

/// Computes a few rows and panels at a time with sums on the stack: dot(row, rows, panel, panels, sums, stride, kept)
/// writes them.
template <uint32_t kRows, class Kept, class Dot>
BANTAM_INLINE void static_linear_sums(const StaticLinear& a, const Dot& dot) {
  constexpr uint32_t kPanels = kSparseSpan / 16;
  constexpr uint32_t kStride = kPanels * 16;
  Sum sums[kRows * kStride];
  for (uint32_t row = 0; row < a.rows; row += kRows) {
    const uint32_t rows = a.rows - row < kRows ? a.rows - row : kRows;
    Kept kept;
    for (uint32_t panel = 0; panel < a.n / 16; panel += kPanels) {
      const uint32_t panels = a.n / 16 - panel < kPanels ? a.n / 16 - panel : kPanels;
      dot(row, rows, panel, panels, sums, kStride, kept);
      for (uint32_t r = 0; r < rows; ++r) static_store(a, sums + r * kStride, row + r, panel * 16, panels * 16);
    }
  }
}

/// static_linear for weights in rows.
inline bool static_linear_k16(const StaticLinear& a) {
  const size_t panel_bytes = size_t{pad16(a.k)} * 16;
  const auto dot = [&](uint32_t row, uint32_t rows, uint32_t panel, uint32_t panels, Sum* sums, size_t stride,
                       NothingOfRows&) {
    dot_k16({a.x + row * a.x_stride, a.x_stride, rows, a.w + panel * panel_bytes, a.k, panels * 16, sums, stride});
  };
  static_linear_sums<(BANTAM_LINK_ROWS < 6 ? 4 : 6), NothingOfRows>(a, dot);
  return true;
}

#if defined(BANTAM_KERNEL_ONE_LANE)

#if BANTAM_IF_LINKED(Sparse)
/// static_linear for sparse weights: the panels of a block are a span.
inline bool static_sparse(const StaticLinear& a) {
  const auto dot = [&](uint32_t row, uint32_t rows, uint32_t panel, uint32_t panels, Sum* sums, size_t stride,
                       NothingOfRows&) {
    dot_sparse({a.x + row * a.x_stride, a.x_stride, rows, a.w, blocks_from(a.sparse, panel * 16), a.k, panels * 16,
                sums, stride, a.scratch});
  };
  static_linear_sums<4, NothingOfRows>(a, dot);
  return true;
}
#endif

inline bool static_linear(const StaticLinear& a) {
  if constexpr (!linked::kStatic) return false;
  if (a.k16) return static_linear_k16(a);
#if BANTAM_IF_LINKED(Sparse)
  if constexpr (linked::kSparse) {
    if (a.sparse.ends != nullptr) return static_sparse(a);
  }
#endif
  const size_t panel_bytes = size_t{a.k} * 16;
  const auto dot = [&](uint32_t row, uint32_t rows, uint32_t panel, uint32_t panels, Sum* sums, size_t stride,
                       RepeatedRows& kept) {
    kept.dot(a.x + row * a.x_stride,
             {a.x_stride, rows, a.w + panel * panel_bytes, panel_bytes, panels, a.k / 4, sums, stride, false});
  };
  static_linear_sums<4, RepeatedRows>(a, dot);
  return true;
}

#else

/// Stores the sums of rows [row, row + kRows) by panels [panel, panel + kPanels) as numbers.
template <uint32_t kRows, uint32_t kPanels>
BANTAM_INLINE void static_finish(const StaticLinear& a, uint32_t row, uint32_t panel,
                                 const RegisterBlock<kRows, kPanels>& block) {
  // Separate code for each block size only where most values are computed.
  if constexpr (kRows >= 4 && kPanels > 1 && alignof(I32) == 64) {
    if (a.y_f32 == nullptr) {
      store_static_values<kRows, kPanels, kOffsetInDots>(
          a, row, kRows, panel, [&](uint32_t r, uint32_t p) __attribute__((always_inline)) { return block.get(r, p); });
      return;
    }
  }
  int32_t sums[kRows * kPanels][16];
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) store(sums[r * kPanels + p], block.get(r, p));
  }
  static_store_block<kPanels, kOffsetInDots>(a, sums, row, kRows, panel);
}

/// Computes rows [row, row + kRows) by panels [panel, end).
template <uint32_t kRows, uint32_t kPanels, bool kWords>
BANTAM_NOINLINE bool static_linear_block(const StaticLinear& a, uint32_t row, uint32_t panel, uint32_t end,
                                         Ahead ahead) {
  multiply_groups<kRows, kPanels, kWords>(
      a, row, panel, end, ahead,
      [&](auto& block, uint32_t first) __attribute__((always_inline)) {
        if constexpr (kOffsetInDots) {
          BANTAM_UNROLL
          for (uint32_t p = 0; p < kPanels; ++p) block.start(p, static_start(a, (first + p) * 16));
        } else {
          block.clear();
        }
      },
      [&](const auto& block, uint32_t first)
          __attribute__((always_inline)) { static_finish<kRows, kPanels>(a, row, first, block); });
  return true;
}

static_assert(even_blocks(block_panels, kMaxRows), "see linear_blocks");

template <uint32_t kRows, bool kWords>
constexpr BlockChoice<StaticLinear> static_choice() {
  return {static_linear_block<kRows, block_panels(kRows), kWords>, static_linear_block<kRows, 1, false>,
          block_panels(kRows)};
}

template <bool kWords, uint32_t... kIndex>
BANTAM_INLINE bool static_linear_of(const StaticLinear& a, Indices<kIndex...>) {
  static constexpr BlockChoice<StaticLinear> kChoices[] = {static_choice<kIndex + 1, kWords>()...};
  return linear_blocks<kGroups>(a, kChoices, sizeof...(kIndex));
}

BANTAM_INLINE bool static_linear_with(const StaticLinear& a) {
  using Blocks = MakeIndices<kMaxRows>::type;
  if constexpr (kWordsFaster) {
    if (a.fits_words) return static_linear_of<true>(a, Blocks{});
  }
  return static_linear_of<false>(a, Blocks{});
}

inline bool static_linear(const StaticLinear& a) {
  if constexpr (!linked::kStatic) return false;
  if (a.k16) return static_linear_k16(a);
  if (linked::kSparse && a.sparse.ends != nullptr) return static_sparse(a);
  return static_linear_with(a);
}

#endif

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_STATIC_LINEAR_H_
