// Sparse weights (layout sparse_1x4) on 16 lanes, which are rows here: each nonzero block of four weights is multiplied
// by the same four inputs of 16, 32 or 64 rows, so its index is read only once. This header has linear_q8;
// static_sparse.h has static_linear.
#ifndef BANTAM_KERNELS_GENERIC_LINEAR_SPARSE_H_
#define BANTAM_KERNELS_GENERIC_LINEAR_SPARSE_H_

#include "kernels/generic/linear.h"
#include "kernels/generic/transpose.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Most rows of one pass over the weights: the sums of four outputs are in registers.
constexpr uint32_t kSparsePass = 16 * kSparseVectors;

/// Calls f(r, sums) for each row r < rows, at most 16; found[o][r] are the results of 16 outputs o, `stride` apart.
template <class F>
BANTAM_INLINE void for_rows_of(const int32_t* found, size_t stride, uint32_t rows, const F& f) {
  if constexpr (kWords == 16) {  // a panel fits in the registers
    Words v[kWords];
    BANTAM_UNROLL_ALWAYS
    for (uint32_t o = 0; o < 16; ++o) memcpy(&v[o], found + o * stride, kRegister);
    transpose(v);
    BANTAM_UNROLL_ALWAYS
    for (uint32_t r = 0; r < 16; ++r) {
      if (r < rows) {  // no early exit: clang unrolls only loops with a known count
        I32 sums;
        memcpy(&sums, &v[r], kRegister);
        f(r, sums);
      }
    }
    return;
  }
  alignas(64) int32_t sums[16][16];
  for (uint32_t o = 0; o < 16; o += kWords) {
    for (uint32_t r = 0; r < 16; r += kWords) {
      Words v[kWords];
      BANTAM_UNROLL_ALWAYS
      for (uint32_t i = 0; i < kWords; ++i) memcpy(&v[i], found + (o + i) * stride + r, kRegister);
      transpose(v);
      BANTAM_UNROLL_ALWAYS
      for (uint32_t i = 0; i < kWords; ++i) memcpy(&sums[r + i][o], &v[i], kRegister);
    }
  }
  for (uint32_t r = 0; r < rows; ++r) f(r, load(sums[r]));
}

/// Adds the products of four inputs and a block of weights to sums[kOutput] of all rows.
template <int kOutput, uint32_t kVectors>
BANTAM_INLINE void add_block(const WeightQuads& quads, const int8_t* inputs, RowSums<16> (&sums)[4][kVectors]) {
  BANTAM_UNROLL
  for (uint32_t i = 0; i < kVectors; ++i) sums[kOutput][i].template add<kOutput>(quads, inputs + i * 64);
}

BANTAM_INLINE uint64_t load_places(const uint16_t* index) {
  uint64_t four;
  memcpy(&four, index, 8);
  return four;
}

/// Adds one block for each of four outputs.
template <uint32_t kVectors>
BANTAM_INLINE void add_step(const int8_t* tokens, const int8_t* w, uint64_t places, RowSums<16> (&sums)[4][kVectors]) {
  constexpr size_t kQuad = kVectors * 64;
  const WeightQuads quads(w);
  add_block<0>(quads, tokens + (places & 0xFFFF) * kQuad, sums);
  add_block<1>(quads, tokens + (places >> 16 & 0xFFFF) * kQuad, sums);
  add_block<2>(quads, tokens + (places >> 32 & 0xFFFF) * kQuad, sums);
  add_block<3>(quads, tokens + (places >> 48) * kQuad, sums);
}

/// Processes four outputs with the same number of blocks, for 16 * kVectors rows: `steps` times one block of each. With
/// 16 rows FewSums is faster.
template <uint32_t kVectors>
BANTAM_INLINE void dot_sparse_group(const int8_t* tokens, const int8_t* w, const uint16_t* index, size_t steps,
                                    RowSums<16> (&sums)[4][kVectors]) {
  if (steps == 0) return;
  // Loads of inputs wait for their indices, so the next step's indices are loaded first.
  uint64_t places = load_places(index);
  for (; steps != 1; --steps, w += 16) {
    index += 4;
    const uint64_t next = load_places(index);
    add_step(tokens, w, places, sums);
    places = next;
  }
  add_step(tokens, w, places, sums);
}

/// The results for a span's outputs: found[o][r] is for output o and row r.
template <uint32_t kVectors>
using Found = int32_t[kSparseSpan][16 * kVectors];

/// Stores the sums of the dot products unchanged.
template <uint32_t kVectors>
struct StaySums {
  Found<kVectors>& found;

  BANTAM_INLINE I32 start(uint32_t) const { return splat(int32_t{0}); }
  BANTAM_INLINE void store_output(const RowSums<16> (&sums)[kVectors], uint32_t o) const {
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kVectors; ++i) store(found[o] + i * 16, sums[i].get());
  }
};

/// Stores the values of the sums, as bits.
template <uint32_t kVectors>
class BecomeValues {
 public:
  BANTAM_INLINE BecomeValues(const LinearQ8& a, uint32_t first, Found<kVectors>& found)
      : found_(found),
        w_sum_(a.w_sum + first),
        w_scale_(a.w_scale + first),
        bias_(a.bias == nullptr ? nullptr : a.bias + first) {
    for (uint32_t r = 0; r < 16 * kVectors; ++r) scales_[r] = a.x_scale[r < a.rows ? r : a.rows - 1];
  }
  BANTAM_INLINE I32 start(uint32_t o) const {
    return kOffsetInDots ? times_minus_128(splat(w_sum_[o])) : splat(int32_t{0});
  }
  BANTAM_INLINE void store_output(const RowSums<16> (&sums)[kVectors], uint32_t o) const {
    const F32 scale = splat(w_scale_[o]);
    const F32 offset = splat(bias_ != nullptr ? bias_[o] : 0.0f);
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kVectors; ++i) {
      store(found_[o] + i * 16, bits(dequantize(sums[i].get(), load(scales_ + i * 16), scale, offset)));
    }
  }

 private:
  Found<kVectors>& found_;
  const int32_t* const w_sum_;
  const float* const w_scale_;
  const float* const bias_;
  alignas(64) float scales_[16 * kVectors];  // missing rows have the scale of the last one, and its inputs
};

/// Passes outputs [first, first + outputs), at most a span, of all rows, at most 16 * kVectors, to become.store_output.
template <uint32_t kVectors, class Become, class Layer>
BANTAM_INLINE void dot_sparse_span(const Layer& a, uint32_t first, uint32_t outputs, const Become& become) {
  const uint32_t* ends = a.sparse.ends + first / 4;
  uint32_t step = first == 0 ? a.sparse.begin : ends[-1];
  const uint8_t* order = a.sparse.order + first;
  for (uint32_t group = 0; group < outputs / 4; ++group, order += 4) {
    RowSums<16> acc[4][kVectors];
    BANTAM_UNROLL
    for (uint32_t j = 0; j < 4; ++j) {
      const I32 start = become.start(order[j]);
      BANTAM_UNROLL
      for (uint32_t i = 0; i < kVectors; ++i) acc[j][i] = RowSums<16>(start);
    }
    dot_sparse_group(a.scratch, a.w + size_t{step} * 16, a.sparse.index + size_t{step} * 4, ends[group] - step, acc);
    step = ends[group];
    BANTAM_UNROLL
    for (uint32_t j = 0; j < 4; ++j) become.store_output(acc[j], order[j]);
  }
}

/// The sums of four outputs for kRows rows: 16, 8 or 4. Instruction sets whose registers hold more than kRows sums have
/// their own for that number.
template <uint32_t kRows>
class FewSums {
 public:
  BANTAM_INLINE FewSums() {
    BANTAM_UNROLL
    for (uint32_t i = 0; i < 4; ++i) sums_[i] = RowSums<kRows>(splat(int32_t{0}));
  }
  /// Adds one block of weights for each output. The inputs of output j are tokens[places[j]][kRows][4].
  BANTAM_INLINE void add(const int8_t* tokens, const int8_t* w, const uint16_t* places) {
    const WeightQuads quads(w);
    // Rows in registers of 64 bytes keep the ports for loads busy: there the four places are one load.
    const uint64_t four = load_places(places);
    const auto inputs = [&](int j) __attribute__((always_inline)) {
      const size_t place = kWords == 16 ? four >> 16 * j & 0xFFFF : places[j];
      return tokens + place * kRows * 4;
    };
    sums_[0].template add<0>(quads, inputs(0));
    sums_[1].template add<1>(quads, inputs(1));
    sums_[2].template add<2>(quads, inputs(2));
    sums_[3].template add<3>(quads, inputs(3));
  }
  template <int kOutput>
  BANTAM_INLINE I32 get() const {
    return sums_[kOutput].get();
  }

 private:
  RowSums<kRows> sums_[4];
};

/// The sums of a span's outputs for kRows rows. A step takes less time than a dot product's latency: every other step
/// has sums of its own.
template <uint32_t kRows, class Layer>
BANTAM_INLINE void dot_few_rows(const Layer& a, uint32_t first, uint32_t outputs, Found<1>& found) {
  const int8_t* tokens = a.scratch;
  const uint32_t* ends = a.sparse.ends + first / 4;
  uint32_t step = first == 0 ? a.sparse.begin : ends[-1];
  const uint8_t* order = a.sparse.order + first;
  for (uint32_t group = 0; group < outputs / 4; ++group, order += 4) {
    const int8_t* w = a.w + size_t{step} * 16;
    const uint16_t* places = a.sparse.index + size_t{step} * 4;
    FewSums<kRows> sums, others;
    size_t steps = ends[group] - step;
    for (; steps >= 2; steps -= 2, w += 32, places += 8) {
      sums.add(tokens, w, places);
      others.add(tokens, w + 16, places + 4);
    }
    if (steps != 0) sums.add(tokens, w, places);
    step = ends[group];
    store(found[order[0]], sums.template get<0>() + others.template get<0>());
    store(found[order[1]], sums.template get<1>() + others.template get<1>());
    store(found[order[2]], sums.template get<2>() + others.template get<2>());
    store(found[order[3]], sums.template get<3>() + others.template get<3>());
  }
}

template <uint32_t kRows>
struct FewRows {
  static constexpr uint32_t kCount = kRows;
};
/// Calls f(FewRows<n>) with the least n that has sums of its own and is at least `rows`, which is at most 16.
template <class F>
BANTAM_INLINE void with_few_rows(uint32_t rows, const F& f) {
  if constexpr (kFewestSums == 4) {
    if (rows <= 4) return f(FewRows<4>());
  }
  if (rows <= 8) return f(FewRows<8>());
  f(FewRows<16>());
}

/// Writes the rows of a layer, at most 16, as dot_few reads them.
template <class Layer>
BANTAM_INLINE void few_rows_to_tokens(const Layer& a) {
  with_few_rows(
      a.rows, [&](auto rows) __attribute__((always_inline)) {
        rows_to_tokens<decltype(rows)::kCount>(a.x, a.x_stride, a.rows, a.k / 4, a.scratch);
      });
}
/// The sums of a span's outputs for these rows.
template <class Layer>
BANTAM_INLINE void dot_few(const Layer& a, uint32_t first, uint32_t outputs, Found<1>& found) {
  with_few_rows(
      a.rows, [&](auto rows)
                  __attribute__((always_inline)) { dot_few_rows<decltype(rows)::kCount>(a, first, outputs, found); });
}

/// The results of a span of a LinearQ8. With many rows, sums are converted to values as soon as they are computed.
template <uint32_t kVectors>
struct SpanValues {
  static constexpr bool kValues = kVectors > 1;

  alignas(64) Found<kVectors> found;

  BANTAM_INLINE void add(const LinearQ8& a, uint32_t first, uint32_t outputs) {
    if constexpr (kValues) {
      dot_sparse_span<kVectors>(a, first, outputs, BecomeValues<kVectors>(a, first, found));
    } else {
      dot_few(a, first, outputs, found);
    }
  }

  /// Stores rows [row, row + rows), at most 16, of panel `panel` of the span in y[r][first + 16 panel...]. Raises
  /// `worst` to the largest magnitude, as bits, if kWorst.
  template <bool kWorst>
  BANTAM_INLINE void store_panel(const LinearQ8& a, uint32_t first, uint32_t panel, uint32_t row, uint32_t rows,
                                 I32& worst) const {
    const uint32_t column = first + panel * 16;
    const I32 start = kOffsetInDots ? times_minus_128(load(a.w_sum + column)) : splat(int32_t{0});
    const F32 w_scale = load(a.w_scale + column);
    const F32 bias = a.bias != nullptr ? load(a.bias + column) : splat(0.0f);
    const float* x_scale = a.x_scale + row;
    float* y = a.y + row * a.y_stride + column;
    for_rows_of(
        found[panel * 16] + row, 16 * kVectors, rows, [&](uint32_t r, I32 sums) __attribute__((always_inline)) {
          const F32 v = kValues ? from_bits(sums) : dequantize(sums + start, splat(x_scale[r]), w_scale, bias);
          if constexpr (kWorst) worst = max(worst, magnitude_bits(v));
          store(y + r * a.y_stride, v);
        });
  }
};

/// Computes outputs [first, first + outputs), at most a span, for all rows, at most 16 * kVectors. Returns false if
/// some y is not finite.
template <uint32_t kVectors, bool kPlain>
BANTAM_NOINLINE bool linear_sparse_span(const LinearQ8& a, uint32_t first, uint32_t outputs) {
  SpanValues<kVectors> sums;
  sums.add(a, first, outputs);
  I32 worst = splat(int32_t{0});
  bool finite = true;
  // Rows of y may be a multiple of 2 KB apart, in few sets of the first-level cache: process 16 of them at a time, not
  // all.
  for (uint32_t row = 0; row < a.rows; row += 16) {
    const uint32_t rows = a.rows - row < 16 ? a.rows - row : 16;
    for (uint32_t panel = 0; panel < outputs / 16; ++panel) {
      sums.template store_panel<kPlain>(a, first, panel, row, rows, worst);
    }
    // Activation finds the maximum itself.
    if constexpr (!kPlain) {
      finite &= activate_block(a.activation, a.y + row * a.y_stride + first, a.y_stride, rows, outputs,
                               a.row_maximum == nullptr ? nullptr : a.row_maximum + row * 16);
    }
  }
  return kPlain ? largest(worst) < kInfinityBits : finite;
}

/// Creates spans for linear_q8.
struct SpansOfValues {
  template <uint32_t kVectors>
  static BANTAM_INLINE auto of(const LinearQ8& a) {
    const bool plain = a.activation == Activation::kNone && a.row_maximum == nullptr;
    return plain ? linear_sparse_span<kVectors, true> : linear_sparse_span<kVectors, false>;
  }
};

/// One pass over the weights: all outputs of at most 16 * kVectors rows.
template <class Spans, uint32_t kVectors, class Layer>
BANTAM_INLINE bool sparse_rows(const Layer& a) {
  if constexpr (kVectors == 1) {
    few_rows_to_tokens(a);
  } else {
    rows_to_tokens<16 * kVectors>(a.x, a.x_stride, a.rows, a.k / 4, a.scratch);
  }
  const auto span = Spans::template of<kVectors>(a);
  bool finite = true;
  for (uint32_t first = 0; first < a.n; first += kSparseSpan) {
    finite &= span(a, first, a.n - first < kSparseSpan ? a.n - first : kSparseSpan);
  }
  return finite;
}

/// All passes. Spans: SpansOfValues for a LinearQ8, SpansOfNumbers for a StaticLinear.
template <class Spans, class Layer>
BANTAM_INLINE bool sparse_passes(const Layer& a) {
  bool finite = true;
  for (uint32_t row = 0, rows = 0; row < a.rows; row += rows) {
    Layer block = rows_from(a, row);
    uint32_t most = sparse_pass(a.k, block.rows);
    if (most > kSparsePass) most = kSparsePass;
    rows = block.rows < most ? block.rows : most;
    block.rows = rows;
    if constexpr (kSparsePass >= 64) {
      if (most == 64) {
        finite &= sparse_rows<Spans, 4>(block);
        continue;
      }
    }
    if constexpr (kSparsePass >= 32) {
      if (most == 32) {
        finite &= sparse_rows<Spans, 2>(block);
        continue;
      }
    }
    finite &= sparse_rows<Spans, 1>(block);
  }
  return finite;
}

/// `a.row_maximum`, if given, must be 0.
inline bool linear_sparse(const LinearQ8& a) { return sparse_passes<SpansOfValues>(a); }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_LINEAR_SPARSE_H_
