// linear_q8 and linear_f32: the outer loop is over panels of outputs, so that a panel's weights stay in the cache for
// all rows; within a panel group, blocks of rows are as even as possible. This header has the choice of blocks, f32,
// and the conversion of sums to values.
#ifndef BANTAM_KERNELS_GENERIC_LINEAR_H_
#define BANTAM_KERNELS_GENERIC_LINEAR_H_

#include "kernels/generic/blocks.h"
#include "kernels/generic/dot_sums.h"
#include "kernels/generic/math.h"
#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Returns the value of an int8 layer's integer sum.
BANTAM_TINY F32 dequantize(I32 sum_of_products, F32 x_scale, F32 w_scale, F32 bias) {
  return fma(to_f32(sum_of_products), x_scale * w_scale, bias);
}

#if !defined(BANTAM_KERNEL_ONE_LANE)
/// Stores rows [row, row + kRows) by panels [panel, panel + kPanels) of y from their integer sums, sum_of(r, p),
/// activated in registers. Raises the maximum of row_maximum[r], if given, to the largest |y|, as bits. Returns false
/// if some y is not finite.
template <uint32_t kRows, uint32_t kPanels, Activation kActivation, class SumOf>
BANTAM_INLINE bool store_values(const LinearQ8& a, uint32_t row, uint32_t panel, int32_t* row_maximum,
                                const SumOf& sum_of) {
  I32 worst[kRows];
  BANTAM_UNROLL
  for (uint32_t p = 0; p < kPanels; ++p) {
    const uint32_t column = (panel + p) * 16;
    const F32 w_scale = load(a.w_scale + column);
    const F32 bias = a.bias != nullptr ? load(a.bias + column) : splat(0.0f);
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      const uint32_t at = row + r;
      const F32 v = activate<kActivation>(dequantize(sum_of(r, p), splat(a.x_scale[at]), w_scale, bias));
      worst[r] = p == 0 ? magnitude_bits(v) : max(worst[r], magnitude_bits(v));
      store(a.y + at * a.y_stride + column, v);
    }
  }
  I32 most = worst[0];
  BANTAM_UNROLL
  for (uint32_t r = 1; r < kRows; ++r) most = max(most, worst[r]);
  if (row_maximum != nullptr) {
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      int32_t* maximum = row_maximum + (row + r) * 16;
      store(maximum, max(load(maximum), worst[r]));
    }
  }
  return largest(most) < kInfinityBits;
}

/// The same for any activation.
template <uint32_t kRows, uint32_t kPanels, class SumOf>
BANTAM_INLINE bool store_block(const LinearQ8& a, uint32_t row, uint32_t panel, const SumOf& sum_of) {
  // Inlines gelu, which has the most values to activate, only in the blocks with the most rows, and only if 16 lanes
  // are one register: elsewhere it would only cost code size.
  if constexpr (kRows >= 4 && kPanels > 1 && alignof(I32) == 64) {
    if (a.activation == Activation::kGelu) {
      return store_values<kRows, kPanels, Activation::kGelu>(a, row, panel, a.row_maximum, sum_of);
    }
  }
  const bool plain = a.activation == Activation::kNone;
  const bool finite =
      store_values<kRows, kPanels, Activation::kNone>(a, row, panel, plain ? a.row_maximum : nullptr, sum_of);
  if (plain) return finite;
  return activate_block(a.activation, a.y + row * a.y_stride + panel * 16, a.y_stride, kRows, kPanels * 16,
                        a.row_maximum == nullptr ? nullptr : a.row_maximum + row * 16);
}

/// Panels that are unpacked to int8 together: those of a block of many rows.
constexpr uint32_t kUnpackedPanels = block_panels(kMaxRows);
static_assert(kUnpackedPanels <= 2, "see unpacked_scratch");
/// Returns a layer from row `first` on; its scratch must not depend on rows.
BANTAM_INLINE LinearQ8 rows_from(LinearQ8 a, uint32_t first) {
  a.rows -= first;
  a.x += first * a.x_stride;
  a.x_scale += first;
  a.y += first * a.y_stride;
  if (a.row_maximum != nullptr) a.row_maximum += first * 16;
  return a;
}
BANTAM_INLINE StaticLinear rows_from(StaticLinear a, uint32_t first) {
  a.rows -= first;
  a.x += first * a.x_stride;
  if (a.y8 != nullptr) a.y8 += first * a.y_stride;
  if (a.y16 != nullptr) a.y16 += first * a.y_stride;
  if (a.y_f32 != nullptr) a.y_f32 += first * a.y_stride;
  return a;
}
#endif

/// Computes row r of y from the sums stored there.
template <bool kBias>
BANTAM_TINY void dequantize_row(const LinearQ8& a, uint32_t r, Finite& finite) {
  constexpr uint32_t kStep = kLanes < 4 ? 4 : kLanes;
  const F32 x_scale = splat(a.x_scale[r]);
  const float* w_scale = a.w_scale;
  const float* bias = a.bias;
  float* y = a.y + r * a.y_stride;
  for (const float* end = y + a.n; y != end; y += kStep, w_scale += kStep, bias += kBias ? kStep : 0) {
    BANTAM_UNROLL_ALWAYS
    for (uint32_t i = 0; i < kStep; i += kLanes) {
      const F32 v = dequantize(bits(load(y + i)), x_scale, load(w_scale + i), kBias ? load(bias + i) : splat(0.0f));
      finite.note(v);
      store(y + i, v);
    }
  }
}

#if !defined(BANTAM_KERNEL_OWN_K16)
BANTAM_NOINLINE inline void dot_k16(const DotRows& a) {
  const uint32_t k = pad16(a.k);
  for (uint32_t r = 0; r < a.rows; ++r) {
    const int8_t* x = a.x + r * a.x_stride;
    const int8_t* w = a.w;
    Sum* sums = a.sums + r * a.sums_stride;
    for (uint32_t o = 0; o < a.outputs; ++o, w += k) {
      int32_t acc = 0;
      for (uint32_t i = 0; i < k; ++i) acc += static_cast<int8_t>(x[i] ^ kOffsetXor) * w[i];
      sums[o] = acc;
    }
  }
}
/// Computes all rows of y at once if an instruction set has its own code for it; else returns false.
BANTAM_TINY bool dequantize_vectors(const LinearQ8&, Finite&) { return false; }
#endif

/// Computes all rows of y from the sums stored there. Returns false if some y is not finite.
inline bool dequantize_rows(const LinearQ8& a) {
  const LinearQ8 copy = a;  // stores cannot alias it
  Finite finite;
  const bool in_vectors = dequantize_vectors(copy, finite);
  const uint32_t rows = in_vectors ? 0 : copy.rows;
  for (uint32_t r = 0; r < rows; ++r) {
#if defined(BANTAM_KERNEL_OWN_PASSES)
    finite.poison =
        dequantize_sums(copy.y + r * copy.y_stride, copy.n, copy.x_scale[r], copy.w_scale, copy.bias, finite.poison);
#else
    if (copy.bias != nullptr) {
      dequantize_row<true>(copy, r, finite);
    } else {
      dequantize_row<false>(copy, r, finite);
    }
#endif
  }
  if (a.activation == Activation::kNone && a.row_maximum == nullptr) return finite.all();
  if (a.row_maximum != nullptr) memset(a.row_maximum, 0, a.rows * 16 * sizeof(int32_t));
#if defined(BANTAM_KERNEL_VECTORS)
  if (in_vectors && BANTAM_KERNEL_VECTORS::activates(a.activation)) return BANTAM_KERNEL_VECTORS::activate_rows(a);
#endif
  return activate_block(a.activation, a.y, a.y_stride, a.rows, a.n, a.row_maximum);
}

/// linear_q8 for weights in rows.
inline bool linear_k16(const LinearQ8& a) {
  dot_k16({a.x, a.x_stride, a.rows, a.w, a.k, a.n, reinterpret_cast<Sum*>(a.y), a.y_stride});
  return dequantize_rows(a);
}

#if defined(BANTAM_KERNEL_ONE_LANE)

/// Computes one output of one row after another.
template <class Element>
BANTAM_NOINLINE bool linear_f32_of(const LinearF32& a) {
  for (uint32_t o = 0; o < a.n; ++o) {
    const Element* weights = static_cast<const Element*>(a.w) + o / 16 * (size_t{a.k} * 16) + o % 16;
    for (uint32_t r = 0; r < a.rows; ++r) {
      const Element* w = weights;
      const float* x = a.x + r * a.x_stride;
      float sum = a.bias != nullptr ? a.bias[o] : 0.0f;
      for (const float* end = x + a.k; x != end; w += 16) sum = fma(*x++, load_element(w), sum);
      a.y[r * a.y_stride + o] = sum;
    }
  }
  return activate_block(a.activation, a.y, a.y_stride, a.rows, a.n, nullptr);
}

inline bool linear_f32(const LinearF32& a) {
  if constexpr (!linked::kFloat) return false;
  if constexpr (linked::kHalf) {
    if (a.w_type == Element::kF16) return linear_f32_of<uint16_t>(a);
  }
  return linear_f32_of<float>(a);
}

#else

template <uint32_t kRows, uint32_t kPanels, class Element>
BANTAM_NOINLINE bool linear_f32_block(const LinearF32& a, uint32_t row, uint32_t panel, uint32_t, Ahead ahead) {
  Panel acc[kRows][kPanels];
  BANTAM_UNROLL
  for (uint32_t p = 0; p < kPanels; ++p) {
    const Panel start = a.bias != nullptr ? Panel(a.bias + (panel + p) * 16) : Panel(0.0f);
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) acc[r][p] = start;
  }
  const size_t w_stride = size_t{a.k} * 16;
  fma_rows(acc, a.x + row * a.x_stride, a.x_stride, static_cast<const Element*>(a.w) + panel * w_stride, w_stride, a.k,
           ahead);

  I32 worst = splat(int32_t{0});
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) {
      float* y = a.y + (row + r) * a.y_stride + (panel + p) * 16;
      BANTAM_UNROLL
      for (uint32_t l = 0; l < kVectors; ++l) {
        worst = max(worst, magnitude_bits(acc[r][p].v[l]));
        store(y + l * kLanes, acc[r][p].v[l]);
      }
    }
  }
  if (a.activation == Activation::kNone) return largest(worst) < kInfinityBits;
  return activate_block(a.activation, a.y + row * a.y_stride + panel * 16, a.y_stride, kRows, kPanels * 16, nullptr);
}

/// For one number of rows: the block with several panels, its number of panels, and the block with one panel for the
/// rest. They compute panels [panel, end), which are at most kGroups times as many for int8 layers, once for f32.
template <class Args>
struct BlockChoice {
  bool (*wide)(const Args&, uint32_t row, uint32_t panel, uint32_t end, Ahead ahead);
  bool (*narrow)(const Args&, uint32_t row, uint32_t panel, uint32_t end, Ahead ahead);
  uint32_t panels;
};

/// If a call has several blocks, each has at least half the maximum of rows; for these sizes the number of panels must
/// be constant.
constexpr bool even_blocks(uint32_t (*panels)(uint32_t), uint32_t max_rows) {
  for (uint32_t r = max_rows / 2; r < max_rows; ++r) {
    if (panels(r) != panels(max_rows)) return false;
  }
  return true;
}
static_assert(even_blocks(block_panels_f32, kMaxRowsF32), "see linear_blocks");

template <class Element, uint32_t kRows>
constexpr BlockChoice<LinearF32> f32_choice() {
  return {linear_f32_block<kRows, block_panels_f32(kRows), Element>, linear_f32_block<kRows, 1, Element>,
          block_panels_f32(kRows)};
}

/// True if there are faster blocks for some weights: LinearQ8::fits_words.
#if defined(BANTAM_KERNEL_BYTES_IN_WORDS)
constexpr bool kWordsFaster = true;
#else
constexpr bool kWordsFaster = false;
#endif

/// Groups of panels that a block of rows of an int8 layer is multiplied by, one after the other. Where rows must be
/// prepared, that is done once for all groups.
#if defined(BANTAM_KERNEL_PREPARES_ROWS)
constexpr uint32_t kGroups = 4;
#else
constexpr uint32_t kGroups = 1;
#endif

/// Multiplies rows [row, row + kRows) of an int8 layer by panels [panel, end), kPanels at a time. Calls start(block,
/// panel) before the products of a group are added, and finish(block, panel) after. kWords: products fit words.
template <uint32_t kRows, uint32_t kPanels, bool kWords, class Layer, class Start, class Finish>
BANTAM_INLINE void multiply_groups(const Layer& a, uint32_t row, uint32_t panel, uint32_t end, Ahead ahead,
                                   const Start& start, const Finish& finish) {
  const int8_t* x = a.x + row * a.x_stride;
  const uint32_t quads = a.k / 4;
  const size_t w_stride = size_t{a.k} * 16;
#if defined(BANTAM_KERNEL_PREPARES_ROWS)
  PreparedRows<kRows> rows;
  const bool once = quads <= kPreparedQuads;
  if (once) rows.prepare(x, a.x_stride, a.k, kOffsetXor);
#endif
  for (; panel < end; panel += kPanels) {
    const int8_t* w = a.w + panel * w_stride;
    RegisterBlock<kRows, kPanels> block;
    start(block, panel);
#if defined(BANTAM_KERNEL_PREPARES_ROWS)
    for (uint32_t begin = 0; begin < quads; begin += kPreparedQuads, w += size_t{kPreparedQuads} * 64) {
      const uint32_t count = quads - begin < kPreparedQuads ? quads - begin : kPreparedQuads;
      if (!once) rows.prepare(x + size_t{begin} * 4, a.x_stride, count * 4, kOffsetXor);
      if constexpr (kRows <= 2) {
        block.template add_prepared<kWords>(rows, w, w_stride, count);
      } else {
        block.template add_prepared<kWords>(rows, w, w_stride, count, ahead);
        ahead.next += ahead.step * count;
      }
    }
#else
    static_assert(kGroups == 1, "the next group needs other weights ahead");
    if constexpr (kRows <= 2) {
      // Bound by the stream of weights, which the processor prefetches itself.
      block.add(x, a.x_stride, w, w_stride, quads);
    } else {
      block.add(x, a.x_stride, w, w_stride, quads, ahead);
    }
#endif
    finish(block, panel);
  }
}

/// For the weights of one panel: number of steps of a block, and bytes of a step.
BANTAM_INLINE uint32_t panel_steps(const LinearQ8& a) { return a.k / 4; }
BANTAM_INLINE uint32_t step_bytes(const LinearQ8&) { return 64; }
BANTAM_INLINE uint32_t panel_steps(const StaticLinear& a) { return a.k / 4; }
BANTAM_INLINE uint32_t step_bytes(const StaticLinear&) { return 64; }
BANTAM_INLINE uint32_t panel_steps(const LinearF32& a) { return a.k; }
BANTAM_INLINE uint32_t step_bytes(const LinearF32& a) { return a.w_type == Element::kF16 ? 32 : 64; }

/// `choices[r - 1]` is for blocks of r rows. All blocks of a call have as many panels as the largest one: see
/// even_blocks.
template <uint32_t kMostGroups, class Args>
BANTAM_INLINE bool linear_blocks(const Args& a, const BlockChoice<Args>* choices, uint32_t max_rows) {
  const RowSplit split(a.rows, max_rows);
  const uint32_t group = choices[split.largest_block() - 1].panels;
  const uint32_t panels = a.n / 16;
  const size_t panel_bytes = size_t{panel_steps(a)} * step_bytes(a);
  bool finite = true;
  for (uint32_t panel = 0; panel < panels;) {
    const bool wide = panel + group <= panels;
    uint32_t groups = wide ? (panels - panel) / group : 1;
    if (groups > kMostGroups) groups = kMostGroups;
    const uint32_t end = panel + groups * (wide ? group : 1);
    // The weights of the next groups are further away in memory; every block prefetches its share of them.
    const uint32_t next_panels = panels - end < groups * group ? panels - end : groups * group;
    const size_t step = next_panels * size_t{step_bytes(a)} / (split.blocks * groups);
    const int8_t* next = static_cast<const int8_t*>(static_cast<const void*>(a.w)) + end * panel_bytes;
    uint32_t row = 0;
    for (uint32_t block = 0; block < split.blocks; ++block) {
      const uint32_t rows = split.rows_of(block);
      const BlockChoice<Args>& choice = choices[rows - 1];
      const Ahead ahead{next + block * step * groups * panel_steps(a), step};
      finite &= (wide ? choice.wide : choice.narrow)(a, row, panel, end, ahead);
      row += rows;
    }
    panel = end;
  }
  return finite;
}

template <class Element, uint32_t... kIndex>
BANTAM_INLINE bool linear_f32_with(const LinearF32& a, Indices<kIndex...>) {
  static constexpr BlockChoice<LinearF32> kChoices[] = {f32_choice<Element, kIndex + 1>()...};
  return linear_blocks<1>(a, kChoices, sizeof...(kIndex));
}

inline bool linear_f32(const LinearF32& a) {
  if constexpr (!linked::kFloat) return false;
  using Blocks = MakeIndices<kMaxRowsF32>::type;
  if constexpr (linked::kHalf) {
    if (a.w_type == Element::kF16) return linear_f32_with<uint16_t>(a, Blocks{});
  }
  return linear_f32_with<float>(a, Blocks{});
}

#endif

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_LINEAR_H_
