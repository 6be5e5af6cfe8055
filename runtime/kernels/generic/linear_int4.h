// linear_q8 for 4-bit weights (layout tile_i4_k8n16) without unpacking them to memory. That is faster for few rows,
// because a step of a decoder waits for its weights, and unpacked ones would have to be written and read again; and for
// any number of rows if an instruction set needs fewer instructions for 4-bit products.
#ifndef BANTAM_KERNELS_GENERIC_LINEAR_INT4_H_
#define BANTAM_KERNELS_GENERIC_LINEAR_INT4_H_

#include "kernels/generic/dot_block.h"
#include "kernels/generic/linear.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

// A group's sum of (half - 8) * factor * x is factor * (sum of half * x - 8 * sum of x): exact, in any order.

#if !defined(BANTAM_KERNEL_HALVES_IN_WORDS)
/// Most inputs whose sums are one HalvesSums; a multiple of 8, at most what copy_part takes.
constexpr uint32_t kHalvesInputs = 512;
/// The factors of a group for 16 outputs, and the group's sums.
struct HalvesFactors {
  I32 v;
  BANTAM_INLINE explicit HalvesFactors(const int8_t* p) : v(load_i8(p)) {}
};
struct HalvesSums {
  Accumulator sums;

  HalvesSums() = default;
  /// Returns the initial value of sums; `low`: sum of the first two inputs of each four, `high`: sum of the last two.
  static BANTAM_INLINE int32_t start_of(int32_t low, int32_t high) { return -8 * (low + high); }
  BANTAM_INLINE explicit HalvesSums(const int32_t* start) : sums(splat(*start)) {}
  BANTAM_INLINE void add(PlainQuad q, Weights h) { sums.add_halves(q, h); }
  BANTAM_INLINE I32 times(const HalvesFactors& factors) const { return sums.get() * factors.v; }
};
#endif

/// The most rows that fit in scratch.
constexpr uint32_t kHalvesTogether = 16;

/// The data that all panels share, in the layer's scratch: each row's signed bytes, padded with 0 to a multiple of 8,
/// and -8 times the sum of each part of them that has one HalvesSums. It takes at most 1.5 bytes per input and row: 24
/// of the 32 bytes per input of the scratch.
struct HalvesRows {
  int32_t* starts;  // [rows][parts]
  int8_t* x;        // [rows][stride]
  uint32_t stride, groups, parts;

  BANTAM_INLINE explicit HalvesRows(const LinearQ8& a)
      : starts(static_cast<int32_t*>(static_cast<void*>(a.scratch))),
        stride(pad8(a.k)),
        groups(int4_groups(a.k, a.group)),
        parts((groups - 1) * parts_of(a.group) + parts_of(a.k - (groups - 1) * a.group)) {
    x = a.scratch + size_t{a.rows} * parts * 4;
    int32_t* start = starts;
    int8_t* to = x;
    for (uint32_t r = 0; r < a.rows; ++r) {
      const int8_t* from = a.x + r * a.x_stride;
      for (uint32_t i = 0, end = 0; end < a.k;) {
        end = int4_group_end(end, a.group, a.k);
        while (i < end) {
          const uint32_t part_end = int4_group_end(i, kHalvesInputs, end);
          *start++ = copy_part(from + i, part_end - i, to);
          to += pad8(part_end - i);
          i = part_end;
        }
      }
    }
  }
  /// Returns the number of parts of a group of `inputs` inputs.
  static BANTAM_INLINE uint32_t parts_of(uint32_t inputs) { return (inputs - 1) / kHalvesInputs + 1; }

 private:
  static_assert(kOffsetXor == 0x80, "bytes lie as x + 128");
  static constexpr uint64_t kOffsets = 0x8080808080808080u, kEven = 0x00FF00FF00FF00FFu;

  /// Copies up to 512 inputs, a multiple of 4, without their offset, and pads them with 0 to a multiple of 8. Returns
  /// the initial value of their sums.
  static BANTAM_INLINE int32_t copy_part(const int8_t* from, uint32_t count, int8_t* to) {
    uint64_t pairs = 0;  // sums of adjacent inputs: four numbers of 16 bits
    const auto add = [&pairs](uint64_t stored) __attribute__((always_inline)) {
      pairs += (stored & kEven) + (stored >> 8 & kEven);
    };
    uint32_t i = 0;
    for (; i + 8 <= count; i += 8) {
      uint64_t stored;
      memcpy(&stored, from + i, 8);
      add(stored);
      stored ^= kOffsets;
      memcpy(to + i, &stored, 8);
    }
    if (i < count) {
      uint64_t stored = kOffsets;
      memcpy(&stored, from + i, 4);
      add(stored);
      stored ^= kOffsets;
      memcpy(to + i, &stored, 8);
    }
    const uint64_t sums = pairs + (pairs >> 32);
    const auto sum = [&](uint32_t shift) {
      return static_cast<int32_t>(sums >> shift & 0xFFFF) - static_cast<int32_t>(pad8(count) / 2) * 128;
    };
    return HalvesSums::start_of(sum(0), sum(16));
  }
};

/// Computes rows [row, row + kRows) by panels [panel, panel + kPanels). Returns false if some y is not finite.
template <uint32_t kRows, uint32_t kPanels>
BANTAM_NOINLINE bool linear_int4_block(const LinearQ8& a, const HalvesRows& rows, uint32_t row, uint32_t panel) {
  const size_t w_stride = size_t{rows.stride} * 8, factor_stride = size_t{rows.groups} * 16;
  const int8_t* w = a.w + panel * w_stride;
  const int8_t* factors = static_cast<const int8_t*>(static_cast<const void*>(a.factors)) + panel * factor_stride;
  SideBySide<kPanels, halves_ahead(kPanels)> ahead(w, w_stride);
  SideBySide<kPanels, kFactorsAhead> factors_ahead(factors, factor_stride);
  const int8_t* x = rows.x + size_t{row} * rows.stride;
  const int32_t* starts = rows.starts + size_t{row} * rows.parts;
  I32 totals[kRows][kPanels];
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) totals[r][p] = splat(int32_t{0});
  }
  for (uint32_t g = 0; g < rows.groups; ++g, factors += 16) {
    if (g % 4 == 0) factors_ahead.fetch();
    uint32_t left = rows.stride - g * a.group;
    if (a.group < left) left = a.group;
    while (left != 0) {
      const uint32_t inputs = left < kHalvesInputs ? left : kHalvesInputs;
      left -= inputs;
      HalvesSums sums[kRows][kPanels];
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        BANTAM_UNROLL
        for (uint32_t p = 0; p < kPanels; ++p) sums[r][p] = HalvesSums(starts + r * rows.parts);
      }
      ++starts;
      for (uint32_t i = 0; i < inputs; i += 8, w += 64, x += 8) {
        Weights low[kPanels], high[kPanels];
        ahead.fetch();
        BANTAM_UNROLL
        for (uint32_t p = 0; p < kPanels; ++p) {
          const Weights bytes = load_weights(w + p * w_stride);
          low[p] = low_halves(bytes);
          high[p] = high_halves(bytes);
        }
        BANTAM_UNROLL
        for (uint32_t r = 0; r < kRows; ++r) {
          const PlainQuad first = plain_quad(x + size_t{r} * rows.stride);
          const PlainQuad second = plain_quad(x + size_t{r} * rows.stride + 4);
          BANTAM_UNROLL
          for (uint32_t p = 0; p < kPanels; ++p) sums[r][p].add(first, low[p]);
          BANTAM_UNROLL
          for (uint32_t p = 0; p < kPanels; ++p) sums[r][p].add(second, high[p]);
        }
      }
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) {
        const HalvesFactors factor(factors + p * factor_stride);
        BANTAM_UNROLL
        for (uint32_t r = 0; r < kRows; ++r) totals[r][p] = totals[r][p] + sums[r][p].times(factor);
      }
    }
  }
  return store_block<kRows, kPanels>(
      a, row, panel, [&](uint32_t r, uint32_t p) __attribute__((always_inline)) { return totals[r][p]; });
}

struct HalvesChoice {
  bool (*wide)(const LinearQ8& a, const HalvesRows& rows, uint32_t row, uint32_t panel);
  bool (*narrow)(const LinearQ8& a, const HalvesRows& rows, uint32_t row, uint32_t panel);
};

static_assert(even_blocks(halves_panels, kHalvesBlock), "see linear_blocks");

/// For 1 to kHalvesTogether rows.
template <uint32_t... kIndex>
BANTAM_NOINLINE bool linear_int4_rows(const LinearQ8& a, Indices<kIndex...>) {
  static constexpr HalvesChoice kChoices[] = {
      {linear_int4_block<kIndex + 1, halves_panels(kIndex + 1)>, linear_int4_block<kIndex + 1, 1>}...};
  const HalvesRows rows(a);
  const RowSplit split(a.rows, sizeof...(kIndex));
  const uint32_t group = halves_panels(split.largest_block());
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

/// For up to kHalvesRows rows.
inline bool linear_int4(const LinearQ8& a) {
  const RowSplit split(a.rows, kHalvesTogether);
  bool finite = true;
  for (uint32_t part = 0, row = 0; part < split.blocks; row += split.rows_of(part++)) {
    LinearQ8 some = rows_from(a, row);
    some.rows = split.rows_of(part);
    finite &= linear_int4_rows(some, MakeIndices<kHalvesBlock>::type{});
  }
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_LINEAR_INT4_H_
