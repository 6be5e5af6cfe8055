// Code that the register blocks of all matrix products share, and the blocks of f32: kRows rows of activations by
// kPanels panels of 16 outputs.
#ifndef BANTAM_KERNELS_GENERIC_BLOCKS_H_
#define BANTAM_KERNELS_GENERIC_BLOCKS_H_

#include "kernels/generic/lanes.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Prefetch of weights that are needed soon: `step` bytes further with each quad that is computed.
struct Ahead {
  const int8_t* next;
  size_t step;  // if it exceeds a cache line, two lines are fetched each time
};
BANTAM_INLINE void fetch(Ahead& ahead) {
  prefetch(ahead.next);
  if (ahead.step > 64) prefetch(ahead.next + 64);
  ahead.next += ahead.step;
}
/// The same for blocks of one panel, where a step is at most a cache line.
BANTAM_INLINE void fetch_line(Ahead& ahead) {
  prefetch(ahead.next);
  ahead.next += ahead.step;
}

/// Prefetch of panels that are read side by side, each kDistance bytes ahead of where it is read. Near the end of the
/// panels this is the beginning of the next ones. Lines reach the first cache in the order in which they are used, and
/// few are under way at a time: a core has 10 to 16 buffers for lines that it waits for.
template <uint32_t kPanels, size_t kDistance>
class SideBySide {
 public:
  /// `w_stride`: bytes of a panel; panels follow each other.
  BANTAM_INLINE SideBySide(const void* w, size_t w_stride)
      : next_(static_cast<const int8_t*>(w) + kDistance),
        end_(static_cast<const int8_t*>(w) + w_stride),
        w_stride_(w_stride) {}
  /// Prefetches the next 64 bytes of each panel.
  BANTAM_INLINE void fetch() {
    const int8_t* const from = next_ < end_ ? next_ : next_ + (kPanels - 1) * w_stride_;
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) prefetch_near(from + p * w_stride_);
    next_ += 64;
  }

 private:
  const int8_t* next_;
  const int8_t* end_;
  size_t w_stride_;
};

/// kDistance for weights of 2 or 4 bits: 4 KB are under way. The same for factors of groups, of which a cache line has
/// four groups.
constexpr size_t codes_ahead(uint32_t panels) { return 4096 / panels; }
constexpr size_t kFactorsAhead = 128;

/// A vector of weights, f32 or f16.
BANTAM_INLINE F32 load_element(const float* p) { return load(p); }
BANTAM_INLINE F32 load_element(const uint16_t* p) { return load_f16(p); }

/// Sixteen adjacent elements.
struct Panel {
  F32 v[kVectors];
  Panel() = default;
  BANTAM_INLINE explicit Panel(float value) {
    BANTAM_UNROLL
    for (F32& lanes : v) lanes = splat(value);
  }
  BANTAM_INLINE explicit Panel(const float* p) {
    BANTAM_UNROLL
    for (uint32_t l = 0; l < kVectors; ++l) v[l] = load(p + l * kLanes);
  }
};

/// Distance, in elements, from one product of a sum to the next.
struct Steps {
  size_t x = 1, w = 16;
};

/// acc[r][p] = fma(x[r][i], w[p][i], acc[r][p]) for i = 0, 1, ..., k - 1. Rows of x are x_stride elements apart, panels
/// of w w_stride.
template <uint32_t kRows, uint32_t kPanels, class Element, class... MaybeAhead>
BANTAM_INLINE void fma_steps(Panel (&acc)[kRows][kPanels], const float* x, size_t x_stride, const Element* w,
                             size_t w_stride, uint32_t k, Steps step, MaybeAhead... ahead) {
  for (uint32_t i = 0; i < k; ++i) {
    Panel weights[kPanels];
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) {
      BANTAM_UNROLL
      for (uint32_t l = 0; l < kVectors; ++l) weights[p].v[l] = load_element(w + p * w_stride + l * kLanes);
    }
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      const F32 value = splat(x[r * x_stride]);
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) {
        BANTAM_UNROLL
        for (uint32_t l = 0; l < kVectors; ++l) acc[r][p].v[l] = fma(value, weights[p].v[l], acc[r][p].v[l]);
      }
    }
    (fetch(ahead), ...);
    x += step.x;
    w += step.w;
  }
}

/// Multiplies contiguous rows by panels [k][16].
template <uint32_t kRows, uint32_t kPanels, class Element, class... MaybeAhead>
BANTAM_INLINE void fma_rows(Panel (&acc)[kRows][kPanels], const float* x, size_t x_stride, const Element* w,
                            size_t w_stride, uint32_t k, MaybeAhead... ahead) {
  fma_steps(acc, x, x_stride, w, w_stride, k, Steps{}, ahead...);
}

/// Indices<0, 1, ..., kCount - 1>: turns block sizes into template arguments (like std::index_sequence, but the runtime
/// does not use the standard library).
template <uint32_t... kIndex>
struct Indices {};
template <uint32_t kCount, uint32_t... kIndex>
struct MakeIndices : MakeIndices<kCount - 1, kCount - 1, kIndex...> {};
template <uint32_t... kIndex>
struct MakeIndices<0, kIndex...> {
  using type = Indices<kIndex...>;
};

/// Divides `rows` into the fewest blocks of at most `limit` rows, as evenly as possible: `longer` blocks of `size` + 1
/// rows come first, then blocks of `size`.
struct RowSplit {
  uint32_t blocks, size, longer;
  BANTAM_INLINE RowSplit(uint32_t rows, uint32_t limit)
      : blocks((rows + limit - 1) / limit), size(rows / blocks), longer(rows % blocks) {}
  BANTAM_INLINE uint32_t rows_of(uint32_t block) const { return block < longer ? size + 1 : size; }
  BANTAM_INLINE uint32_t largest_block() const { return longer != 0 ? size + 1 : size; }
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_BLOCKS_H_
