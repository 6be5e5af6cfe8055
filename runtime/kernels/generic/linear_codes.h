// linear_q8 for weights of 4 bits (layout tile_i4_k8n16) or of 2 (tile_ternary_k16n16) without unpacking them to
// memory. That is faster for few rows, because a step of a decoder waits for its weights, and unpacked ones would have
// to be written and read again; and for any number of rows if an instruction set needs fewer instructions for such
// products.
#ifndef BANTAM_KERNELS_GENERIC_LINEAR_CODES_H_
#define BANTAM_KERNELS_GENERIC_LINEAR_CODES_H_

#include "kernels/generic/dot_block.h"
#include "kernels/generic/linear.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

// A byte holds codes of weights, each the weight plus that of zero. A group's sum of (code - zero) * factor * x is
// factor * (sum of code * x - zero * sum of x): exact, in any order.

/// Four-bit codes; groups of inputs have factors.
struct Int4Codes {
  static constexpr int kBits = 4;
  static constexpr int32_t kZero = 8;
  static constexpr bool kFactors = true;
  static BANTAM_INLINE uint32_t groups(const LinearQ8& a) { return int4_groups(a.k, a.group); }
  static BANTAM_INLINE uint32_t group(const LinearQ8& a) { return a.group; }
};
/// Two-bit codes; all inputs are one group, without factors.
struct TernaryCodes {
  static constexpr int kBits = 2;
  static constexpr int32_t kZero = 1;
  static constexpr bool kFactors = false;
  static BANTAM_INLINE uint32_t groups(const LinearQ8&) { return 1; }
  static BANTAM_INLINE uint32_t group(const LinearQ8&) { return UINT32_MAX; }
};

#if !defined(BANTAM_KERNEL_CODES_IN_WORDS)
/// Most inputs whose sums are one CodeSums; a multiple of 16, at most what copy_part takes.
constexpr uint32_t code_inputs(int32_t) { return 512; }
/// The factors of a group for 16 outputs, and the group's sums.
struct CodeFactors {
  I32 v;
  BANTAM_INLINE explicit CodeFactors(const int8_t* p) : v(load_i8(p)) {}
};
struct CodeSums {
  Accumulator sums;

  CodeSums() = default;
  /// Returns the initial value of sums; `low`: sum of the first two inputs of each four, `high`: sum of the last two.
  static BANTAM_INLINE int32_t start_of(int32_t zero, int32_t low, int32_t high) { return -zero * (low + high); }
  BANTAM_INLINE explicit CodeSums(const int32_t* start) : sums(splat(*start)) {}
  BANTAM_INLINE void add(PlainQuad q, Weights w) { sums.add_codes(q, w); }
  BANTAM_INLINE I32 get() const { return sums.get(); }
  BANTAM_INLINE I32 times(const CodeFactors& factors) const { return sums.get() * factors.v; }
};
#endif

/// The most rows that fit in scratch.
constexpr uint32_t kCodesTogether = 16;

/// The data that all panels share, in the layer's scratch: each row's signed bytes, padded with 0 to a whole number of
/// steps, and -zero times the sum of each part of them that has one CodeSums. Per input and row it takes at most 1.5
/// bytes: 24 of the 32 bytes per input of the scratch.
template <class Codes>
struct CodeRows {
  /// Inputs of 64 bytes of a panel.
  static constexpr uint32_t kStep = 4 * 8 / Codes::kBits;
  static constexpr uint32_t kInputs = code_inputs(Codes::kZero);

  int32_t* starts;  // [rows][parts]
  int8_t* x;        // [rows][stride]
  uint32_t stride, groups, group, parts;

  BANTAM_INLINE explicit CodeRows(const LinearQ8& a)
      : starts(static_cast<int32_t*>(static_cast<void*>(a.scratch))),
        stride((a.k + kStep - 1) / kStep * kStep),
        groups(Codes::groups(a)),
        group(Codes::group(a)),
        parts((groups - 1) * parts_of(group) + parts_of(a.k - (groups - 1) * group)) {
    x = a.scratch + size_t{a.rows} * parts * 4;
    int32_t* start = starts;
    for (uint32_t r = 0; r < a.rows; ++r) {
      const int8_t* from = a.x + r * a.x_stride;
      int8_t* to = x + size_t{r} * stride;
      memset(to + stride - 8, 0, 8);
      for (uint32_t i = 0, end = 0; end < a.k;) {
        end = int4_group_end(end, group, a.k);
        while (i < end) {
          const uint32_t part_end = int4_group_end(i, kInputs, end);
          *start++ = copy_part(from + i, part_end - i, to + i);
          i = part_end;
        }
      }
    }
  }
  /// Returns the number of parts of a group of `inputs` inputs.
  static BANTAM_INLINE uint32_t parts_of(uint32_t inputs) { return (inputs - 1) / kInputs + 1; }

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
    return CodeSums::start_of(Codes::kZero, sum(0), sum(16));
  }
};

/// Computes rows [row, row + kRows) by panels [panel, panel + kPanels). Returns false if some y is not finite.
template <class Codes, uint32_t kRows, uint32_t kPanels>
BANTAM_NOINLINE bool linear_codes_block(const LinearQ8& a, const CodeRows<Codes>& rows, uint32_t row, uint32_t panel) {
  constexpr uint32_t kStep = CodeRows<Codes>::kStep;
  const size_t w_stride = size_t{rows.stride} / kStep * 64, factor_stride = size_t{rows.groups} * 16;
  const int8_t* w = a.w + panel * w_stride;
  const int8_t* factors = static_cast<const int8_t*>(static_cast<const void*>(a.factors)) + panel * factor_stride;
  SideBySide<kPanels, codes_ahead(kPanels)> ahead(w, w_stride);
  SideBySide<kPanels, kFactorsAhead> factors_ahead(factors, factor_stride);
  const int8_t* x = rows.x + size_t{row} * rows.stride;
  const int32_t* starts = rows.starts + size_t{row} * rows.parts;
  I32 totals[kRows][kPanels];
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) totals[r][p] = splat(int32_t{0});
  }
  for (uint32_t g = 0; g < rows.groups; ++g) {
    if (Codes::kFactors && g % 4 == 0) factors_ahead.fetch();
    uint32_t left = rows.stride - g * rows.group;
    if (rows.group < left) left = rows.group;
    while (left != 0) {
      const uint32_t inputs = left < rows.kInputs ? left : rows.kInputs;
      left -= inputs;
      CodeSums sums[kRows][kPanels];
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        BANTAM_UNROLL
        for (uint32_t p = 0; p < kPanels; ++p) sums[r][p] = CodeSums(starts + r * rows.parts);
      }
      ++starts;
      for (uint32_t i = 0; i < inputs; i += kStep, w += 64) {
        Weights bytes[kPanels];
        ahead.fetch();
        BANTAM_UNROLL
        for (uint32_t p = 0; p < kPanels; ++p) bytes[p] = load_weights(w + p * w_stride);
        BANTAM_UNROLL
        for (int bit = 0; bit < 8; bit += Codes::kBits, x += 4) {
          Weights some[kPanels];
          BANTAM_UNROLL
          for (uint32_t p = 0; p < kPanels; ++p) some[p] = codes(bytes[p], bit, Codes::kBits);
          BANTAM_UNROLL
          for (uint32_t r = 0; r < kRows; ++r) {
            const PlainQuad quad = plain_quad(x + size_t{r} * rows.stride);
            BANTAM_UNROLL
            for (uint32_t p = 0; p < kPanels; ++p) sums[r][p].add(quad, some[p]);
          }
        }
      }
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) {
        if constexpr (Codes::kFactors) {
          const CodeFactors factor(factors + g * size_t{16} + p * factor_stride);
          BANTAM_UNROLL
          for (uint32_t r = 0; r < kRows; ++r) totals[r][p] = totals[r][p] + sums[r][p].times(factor);
        } else {
          BANTAM_UNROLL
          for (uint32_t r = 0; r < kRows; ++r) totals[r][p] = totals[r][p] + sums[r][p].get();
        }
      }
    }
  }
  return store_block<kRows, kPanels>(
      a, row, panel, [&](uint32_t r, uint32_t p) __attribute__((always_inline)) { return totals[r][p]; });
}

template <class Codes>
struct CodesChoice {
  bool (*wide)(const LinearQ8& a, const CodeRows<Codes>& rows, uint32_t row, uint32_t panel);
  bool (*narrow)(const LinearQ8& a, const CodeRows<Codes>& rows, uint32_t row, uint32_t panel);
};

static_assert(even_blocks(codes_panels, kCodesBlock), "see linear_blocks");

/// For 1 to kCodesTogether rows.
template <class Codes, uint32_t... kIndex>
BANTAM_NOINLINE bool linear_codes_rows(const LinearQ8& a, Indices<kIndex...>) {
  static constexpr CodesChoice<Codes> kChoices[] = {
      {linear_codes_block<Codes, kIndex + 1, codes_panels(kIndex + 1)>, linear_codes_block<Codes, kIndex + 1, 1>}...};
  const CodeRows<Codes> rows(a);
  const RowSplit split(a.rows, sizeof...(kIndex));
  const uint32_t group = codes_panels(split.largest_block());
  bool finite = true;
  for (uint32_t panel = 0, end = 0; panel < a.n / 16; panel = end) {
    const bool wide = panel + group <= a.n / 16;
    end = panel + (wide ? group : 1);
    for (uint32_t block = 0, row = 0; block < split.blocks; row += split.rows_of(block++)) {
      const CodesChoice<Codes>& choice = kChoices[split.rows_of(block) - 1];
      finite &= (wide ? choice.wide : choice.narrow)(a, rows, row, panel);
    }
  }
  return finite;
}

/// For up to kCodesRows rows.
template <class Codes>
bool linear_codes(const LinearQ8& a) {
  const RowSplit split(a.rows, kCodesTogether);
  bool finite = true;
  for (uint32_t part = 0, row = 0; part < split.blocks; row += split.rows_of(part++)) {
    LinearQ8 some = rows_from(a, row);
    some.rows = split.rows_of(part);
    finite &= linear_codes_rows<Codes>(some, MakeIndices<kCodesBlock>::type{});
  }
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_LINEAR_CODES_H_
