// linear_q8 of few rows by weights of 4 bits (layout tile_i4_k8n16), which are multiplied as they are stored: a step of a decoder
// waits for its weights, and unpacked ones would be written and read once more.
#ifndef BANTAM_KERNELS_GENERIC_LINEAR_INT4_H_
#define BANTAM_KERNELS_GENERIC_LINEAR_INT4_H_

#include "kernels/generic/dot_block.h"
#include "kernels/generic/linear.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

// A group's sum of (half - 8) * factor * x is factor * (sum of half * x - 8 * sum of x): exact, in any order.

/// Rows of a block. An instruction set's kHalvesRows are those for which halves are cheaper than unpacked weights.
constexpr uint32_t kHalvesBlock = 4;

/// What all panels have in common, in the layer's scratch: of each row its signed bytes, padded with 0 to a multiple of 8, and -8
/// times the sum of each group of them. 1.5 bytes an input and row at most: 12 of 32 that there are.
struct HalvesRows {
  int32_t* starts;  // [rows][groups]
  int8_t* x;        // [rows][stride]
  uint32_t stride, groups;

  BANTAM_INLINE explicit HalvesRows(const LinearQ8& a)
      : starts(static_cast<int32_t*>(static_cast<void*>(a.scratch))),
        stride(pad8(a.k)),
        groups((a.k + a.group - 1) / a.group) {
    x = a.scratch + size_t{a.rows} * groups * 4;
    int32_t* start = starts;
    int8_t* to = x;
    for (uint32_t r = 0; r < a.rows; ++r) {
      const int8_t* from = a.x + r * a.x_stride;
      for (uint32_t g = 0; g < groups; ++g) {
        const uint32_t end = (g + 1) * a.group < a.k ? (g + 1) * a.group : a.k;
        int32_t total = 0;
        for (uint32_t i = g * a.group; i < end; i += 8, to += 8) total += copy_eight(from + i, end - i, to);
        *start++ = -8 * total;
      }
    }
  }

 private:
  /// Copies 8 bytes, or 4 and 4 of 0, without their offset; returns their sum.
  static BANTAM_INLINE int32_t copy_eight(const int8_t* from, uint32_t left, int8_t* to) {
    static_assert(kOffsetXor == 0x80, "bytes lie as x + 128");
    constexpr uint64_t kOffsets = 0x8080808080808080u, kEven = 0x00FF00FF00FF00FFu;
    uint64_t stored = kOffsets;
    if (left < 8) {
      memcpy(&stored, from, 4);
    } else {
      memcpy(&stored, from, 8);
    }
    const uint64_t x = stored ^ kOffsets;
    memcpy(to, &x, 8);
    const uint64_t pairs = (stored & kEven) + (stored >> 8 & kEven);
    return static_cast<int32_t>(pairs * 0x0001000100010001u >> 48) - 8 * 128;
  }
};

/// Rows [row, row + kRows) by panels [panel, panel + kPanels). False when some y is not finite.
template <uint32_t kRows, uint32_t kPanels>
BANTAM_NOINLINE bool linear_int4_block(const LinearQ8& a, const HalvesRows& rows, uint32_t row, uint32_t panel) {
  const size_t w_stride = size_t{rows.stride} * 8, factor_stride = size_t{rows.groups} * 16;
  const int8_t* w = a.w + panel * w_stride;
  const int8_t* factors = static_cast<const int8_t*>(static_cast<const void*>(a.factors)) + panel * factor_stride;
  // The next panels, in their order: each is too short for the processor to guess.
  const int8_t* next = w + kPanels * w_stride;
  const int8_t* x = rows.x + size_t{row} * rows.stride;
  const int32_t* starts = rows.starts + size_t{row} * rows.groups;
  I32 totals[kRows][kPanels];
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) totals[r][p] = splat(int32_t{0});
  }
  for (uint32_t g = 0; g < rows.groups; ++g, factors += 16) {
    Accumulator acc[kRows][kPanels];
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) acc[r][p] = Accumulator(splat(starts[r * rows.groups + g]));
    }
    const uint32_t left = rows.stride - g * a.group;
    for (uint32_t i = 0, count = (left < a.group ? left : a.group) / 8; i < count; ++i, w += 64, x += 8) {
      Weights low[kPanels], high[kPanels];
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) {
        const Weights bytes = load_weights(w + p * w_stride);
        prefetch_near(next);
        next += 64;
        low[p] = low_halves(bytes);
        high[p] = high_halves(bytes);
      }
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        const PlainQuad first = plain_quad(x + size_t{r} * rows.stride);
        const PlainQuad second = plain_quad(x + size_t{r} * rows.stride + 4);
        BANTAM_UNROLL
        for (uint32_t p = 0; p < kPanels; ++p) acc[r][p].add_halves(first, low[p]);
        BANTAM_UNROLL
        for (uint32_t p = 0; p < kPanels; ++p) acc[r][p].add_halves(second, high[p]);
      }
    }
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) {
      const I32 factor = load_i8(factors + p * factor_stride);
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) totals[r][p] = totals[r][p] + acc[r][p].get() * factor;
    }
  }
  return store_block<kRows, kPanels>(
      a, row, panel, [&](uint32_t r, uint32_t p) __attribute__((always_inline)) { return totals[r][p]; });
}

struct HalvesChoice {
  bool (*wide)(const LinearQ8& a, const HalvesRows& rows, uint32_t row, uint32_t panel);
  bool (*narrow)(const LinearQ8& a, const HalvesRows& rows, uint32_t row, uint32_t panel);
};
template <uint32_t kRows, uint32_t kPanels>
constexpr HalvesChoice halves_choice() {
  return {linear_int4_block<kRows, kPanels>, linear_int4_block<kRows, 1>};
}

/// 1 to kHalvesRows rows.
inline bool linear_int4(const LinearQ8& a) {
  static constexpr HalvesChoice kChoices[kHalvesBlock] = {
      halves_choice<1, kHalvesPanels>(), halves_choice<2, kHalvesPanels / 2>(), halves_choice<3, kHalvesPanels / 2>(),
      halves_choice<4, kHalvesPanels / 2>()};
  const HalvesRows rows(a);
  const RowSplit split(a.rows, kHalvesBlock);
  const uint32_t group = a.rows == 1 ? kHalvesPanels : kHalvesPanels / 2;
  bool finite = true;
  for (uint32_t panel = 0, end = 0; panel < a.n / 16; panel = end) {
    const bool wide = panel + group <= a.n / 16;
    end = panel + (wide ? group : 1);
    for (uint32_t block = 0, row = 0; block < split.blocks; row += split.rows_of(block++)) {
      const HalvesChoice& choice = kChoices[split.rows_of(block) - 1];
      finite &= (wide ? choice.wide : choice.narrow)(a, rows, row, panel);
    }
  }
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_LINEAR_INT4_H_
