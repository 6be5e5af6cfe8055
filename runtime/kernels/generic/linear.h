// linear_q8 and linear_f32: panels of outputs outside, so that a panel's weights stay in the cache while the rows pass;
// within a panel group, blocks of rows as even as can be.
#ifndef BANTAM_KERNELS_GENERIC_LINEAR_H_
#define BANTAM_KERNELS_GENERIC_LINEAR_H_

#include "kernels/generic/dot_block.h"
#include "kernels/generic/math.h"
#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Rows [row, row + kRows) by panels [panel, panel + kPanels). False when some y is not finite.
template <uint32_t kRows, uint32_t kPanels>
BANTAM_NOINLINE bool linear_q8_block(const LinearQ8& a, uint32_t row, uint32_t panel, Ahead ahead) {
  const int8_t* x = a.x + row * a.x_stride;
  int32_t row_starts[kRows];
  measure_rows(row_starts, x, a.x_stride, a.k);
  Accumulator acc[kRows][kPanels];
  BANTAM_UNROLL
  for (uint32_t p = 0; p < kPanels; ++p) start_rows(acc, p, a.w_sum + (panel + p) * 16, row_starts);
  const size_t w_stride = size_t{a.k} * 16;
  if constexpr (kRows <= 2) {
    // Bound by the weights' stream, which the processor fetches ahead itself.
    dot_rows(acc, x, a.x_stride, a.w + panel * w_stride, w_stride, a.k / 4);
  } else {
    dot_rows(acc, x, a.x_stride, a.w + panel * w_stride, w_stride, a.k / 4, ahead);
  }

  I32x16 worst = splat(int32_t{0});
  BANTAM_UNROLL
  for (uint32_t p = 0; p < kPanels; ++p) {
    const uint32_t column = (panel + p) * 16;
    const F32x16 w_scale = load(a.w_scale + column);
    const F32x16 bias = a.bias != nullptr ? load(a.bias + column) : splat(0.0f);
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      const uint32_t at = row + r;
      const F32x16 v = fma(to_f32(acc[r][p].get()), splat(a.x_scale[at]) * w_scale, bias);
      worst = max(worst, magnitude_bits(v));
      store(a.y + at * a.y_stride + column, v);
    }
  }
  if (a.activation == Activation::kNone && a.row_bits == nullptr) return largest(worst) < kInfinityBits;
  return activate_block(a.activation, a.y + row * a.y_stride + panel * 16, a.y_stride, kRows, kPanels,
                        a.row_bits == nullptr ? nullptr : a.row_bits + row * 16);
}

template <uint32_t kRows, uint32_t kPanels, class Element>
BANTAM_NOINLINE bool linear_f32_block(const LinearF32& a, uint32_t row, uint32_t panel, Ahead ahead) {
  F32x16 acc[kRows][kPanels];
  BANTAM_UNROLL
  for (uint32_t p = 0; p < kPanels; ++p) {
    const F32x16 start = a.bias != nullptr ? load(a.bias + (panel + p) * 16) : splat(0.0f);
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) acc[r][p] = start;
  }
  const size_t w_stride = size_t{a.k} * 16;
  fma_rows(acc, a.x + row * a.x_stride, a.x_stride, static_cast<const Element*>(a.w) + panel * w_stride, w_stride, a.k,
           ahead);

  I32x16 worst = splat(int32_t{0});
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) {
      worst = max(worst, magnitude_bits(acc[r][p]));
      store(a.y + (row + r) * a.y_stride + (panel + p) * 16, acc[r][p]);
    }
  }
  if (a.activation == Activation::kNone) return largest(worst) < kInfinityBits;
  return activate_block(a.activation, a.y + row * a.y_stride + panel * 16, a.y_stride, kRows, kPanels, nullptr);
}

/// For one number of rows: the block of several panels, how many, and the block of one panel for what is left.
template <class Args>
struct BlockChoice {
  bool (*wide)(const Args&, uint32_t row, uint32_t panel, Ahead ahead);
  bool (*narrow)(const Args&, uint32_t row, uint32_t panel, Ahead ahead);
  uint32_t panels;
};

/// Calls with several blocks have blocks of half the maximum at least; from there on the panels must be constant.
constexpr bool even_blocks(uint32_t (*panels)(uint32_t), uint32_t max_rows) {
  for (uint32_t r = max_rows / 2; r < max_rows; ++r) {
    if (panels(r) != panels(max_rows)) return false;
  }
  return true;
}
static_assert(even_blocks(block_panels, kMaxRows) && even_blocks(block_panels_f32, kMaxRowsF32), "see linear_blocks");

template <uint32_t kRows>
constexpr BlockChoice<LinearQ8> q8_choice() {
  return {linear_q8_block<kRows, block_panels(kRows)>, linear_q8_block<kRows, 1>, block_panels(kRows)};
}
template <class Element, uint32_t kRows>
constexpr BlockChoice<LinearF32> f32_choice() {
  return {linear_f32_block<kRows, block_panels_f32(kRows), Element>, linear_f32_block<kRows, 1, Element>,
          block_panels_f32(kRows)};
}

/// The weights of one panel: how many steps a block takes through them, and the bytes of a step.
BANTAM_INLINE uint32_t panel_steps(const LinearQ8& a) { return a.k / 4; }
BANTAM_INLINE uint32_t step_bytes(const LinearQ8&) { return 64; }
BANTAM_INLINE uint32_t panel_steps(const LinearF32& a) { return a.k; }
BANTAM_INLINE uint32_t step_bytes(const LinearF32& a) { return a.w_type == Element::kF16 ? 32 : 64; }

/// `choices[r - 1]` serves blocks of r rows. All blocks of a call have the panels of the largest one: see even_blocks.
template <class Args>
BANTAM_INLINE bool linear_blocks(const Args& a, const BlockChoice<Args>* choices, uint32_t max_rows) {
  const RowSplit split(a.rows, max_rows);
  const uint32_t group = choices[split.largest_block() - 1].panels;
  const uint32_t panels = a.n / 16;
  const size_t panel_bytes = size_t{panel_steps(a)} * step_bytes(a);
  bool finite = true;
  for (uint32_t panel = 0; panel < panels;) {
    const bool wide = panel + group <= panels;
    const uint32_t end = panel + (wide ? group : 1);
    // The weights of the next group come from further away; every block fetches its share of them.
    const size_t step = (end == panels ? 0 : group) * size_t{step_bytes(a)} / split.blocks;
    const int8_t* next = static_cast<const int8_t*>(static_cast<const void*>(a.w)) + end * panel_bytes;
    uint32_t row = 0;
    for (uint32_t block = 0; block < split.blocks; ++block) {
      const uint32_t rows = split.rows_of(block);
      const BlockChoice<Args>& choice = choices[rows - 1];
      finite &= (wide ? choice.wide : choice.narrow)(a, row, panel, Ahead{next + block * step * panel_steps(a), step});
      row += rows;
    }
    panel = end;
  }
  return finite;
}

template <uint32_t... kIndex>
BANTAM_INLINE bool linear_q8_with(const LinearQ8& a, Indices<kIndex...>) {
  static constexpr BlockChoice<LinearQ8> kChoices[] = {q8_choice<kIndex + 1>()...};
  return linear_blocks(a, kChoices, sizeof...(kIndex));
}
template <class Element, uint32_t... kIndex>
BANTAM_INLINE bool linear_f32_with(const LinearF32& a, Indices<kIndex...>) {
  static constexpr BlockChoice<LinearF32> kChoices[] = {f32_choice<Element, kIndex + 1>()...};
  return linear_blocks(a, kChoices, sizeof...(kIndex));
}

inline bool linear_q8(const LinearQ8& a) {
  if (a.row_bits != nullptr) memset(a.row_bits, 0, a.rows * 16 * sizeof(int32_t));
  return linear_q8_with(a, MakeIndices<kMaxRows>::type{});
}

inline bool linear_f32(const LinearF32& a) {
  using Blocks = MakeIndices<kMaxRowsF32>::type;
  return a.w_type == Element::kF16 ? linear_f32_with<uint16_t>(a, Blocks{}) : linear_f32_with<float>(a, Blocks{});
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_LINEAR_H_
