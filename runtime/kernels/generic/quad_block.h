// RegisterBlock for instruction sets whose dot product processes one quad at a time: dot.h defines SignedQuad,
// UnsignedQuad, Weights and Accumulator (see avx512/dot.h), then includes this. Other instruction sets define their own
// RegisterBlock.
#ifndef BANTAM_KERNELS_GENERIC_QUAD_BLOCK_H_
#define BANTAM_KERNELS_GENERIC_QUAD_BLOCK_H_

#include "kernels/generic/blocks.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// The sums of kRows rows of q8 activations by kPanels panels of 16 outputs.
template <uint32_t kRows, uint32_t kPanels>
struct RegisterBlock {
  Accumulator acc[kRows][kPanels];

  /// For activations stored as x + 128: initializes the sums of panel p with -128 * sum of the weights.
  BANTAM_INLINE void start(uint32_t p, const int32_t* sums) { start(p, times_minus_128(load(sums))); }
  BANTAM_INLINE void start(uint32_t p, I32 value) {
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) acc[r][p] = Accumulator(value);
  }
  /// For keys: initializes all sums of a row with the result of measure_queries.
  BANTAM_INLINE void start(const int32_t (&row_starts)[kRows]) {
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) acc[r][p] = Accumulator(splat(row_starts[r]));
    }
  }
  /// Initializes all sums with 0.
  BANTAM_INLINE void clear() {
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) acc[r][p] = Accumulator(splat(int32_t{0}));
    }
  }

  /// Adds x[r][0, 4 * quads) . panel p's weights [quads][16][4]; panels lie w_stride bytes apart.
  template <class... MaybeAhead>
  BANTAM_INLINE void add(const int8_t* x, size_t x_stride, const int8_t* w, size_t w_stride, uint32_t quads,
                         MaybeAhead... ahead) {
    add_rows<LayerWeights>(x, x_stride, w, w_stride, quads, ahead...);
  }
#if defined(BANTAM_KERNEL_PREPARES_ROWS)
  /// The same for `quads` quads of rows that are prepared. kWords: the weights' products fit words, as
  /// LinearQ8::fits_words says.
  template <bool kWords, class... MaybeAhead>
  BANTAM_INLINE void add_prepared(const PreparedRows<kRows>& rows, const int8_t* w, size_t w_stride, uint32_t quads,
                                  MaybeAhead... ahead) {
    add_prepared_rows<LayerWeights, kWords ? 2 : 1>(rows, w, w_stride, quads, ahead...);
  }
#endif
  /// The same with keys as weights. Keys, not queries, have the offset of 128, if there is one.
  BANTAM_INLINE void add_keys(const int8_t* x, size_t x_stride, const int8_t* keys, size_t stride, uint32_t quads) {
    add_rows<Keys>(x, x_stride, keys, stride, quads);
  }

  /// Adds one quad: x[r][0, 4) . weights[p]. Only if rows are multiplied in their stored form.
  BANTAM_INLINE void add_quad(const int8_t* x, size_t x_stride, const Weights (&weights)[kPanels]) {
    multiply<LayerWeights>(
        [&](uint32_t r) __attribute__((always_inline)) { return signed_quad(x + r * x_stride); }, weights);
  }

  /// Adds u[r][0, 16) . panel p's weights [4][16][4]: a page of attention's values weighted by u8 probabilities.
  BANTAM_INLINE void add_page(const uint8_t* u, size_t u_stride, const int8_t* w, size_t w_stride) {
    BANTAM_UNROLL
    for (uint32_t quad = 0; quad < 4; ++quad) {
      add_quad<LayerWeights>(
          [&](uint32_t r) __attribute__((always_inline)) { return unsigned_quad(u + r * u_stride + quad * 4); },
          w + quad * 64, w_stride);
    }
  }

  BANTAM_INLINE I32 get(uint32_t r, uint32_t p) const { return acc[r][p].get(); }

 private:
  /// Templates, because the member need not exist if it is not used.
  struct LayerWeights {
    static constexpr uint8_t kOffset = kOffsetXor;  // offset of the rows
    template <class Sums, class Quad, class Tile>
    static BANTAM_INLINE void add(Sums& sums, const Quad& quad, const Tile& weights) {
      sums.add(quad, weights);
    }
  };
  struct Keys {
    static constexpr uint8_t kOffset = 0;
    template <class Sums, class Quad, class Tile>
    static BANTAM_INLINE void add(Sums& sums, const Quad& quad, const Tile& keys) {
      if constexpr (kOffsetXor != 0) {
        sums.add_keys(quad, keys);
      } else {
        sums.add(quad, keys);
      }
    }
  };

#if defined(BANTAM_KERNEL_PREPARES_ROWS)
  template <class Kind>
  BANTAM_INLINE void add_rows(const int8_t* x, size_t x_stride, const int8_t* w, size_t w_stride, uint32_t quads) {
    PreparedRows<kRows> rows;
    for (uint32_t begin = 0; begin < quads; begin += kPreparedQuads, w += size_t{kPreparedQuads} * 64) {
      const uint32_t count = quads - begin < kPreparedQuads ? quads - begin : kPreparedQuads;
      rows.prepare(x + size_t{begin} * 4, x_stride, count * 4, Kind::kOffset);
      add_prepared_rows<Kind, 1>(rows, w, w_stride, count);
    }
  }

  /// kTogether: number of quads whose products are first added in words.
  template <class Kind, uint32_t kTogether, class... MaybeAhead>
  BANTAM_INLINE void add_prepared_rows(const PreparedRows<kRows>& rows, const int8_t* w, size_t w_stride,
                                       uint32_t quads, MaybeAhead... ahead) {
    uint32_t i = 0;
    if constexpr (kTogether == 2) {
      for (; i + 2 <= quads; i += 2, w += 128) {
        add_two_quads(rows, i, w, w_stride);
        (fetch(ahead), ...);
        (fetch(ahead), ...);
      }
    }
    for (; i < quads; ++i, w += 64) {
      add_quad<Kind>(
          [&](uint32_t r) __attribute__((always_inline)) { return rows.quad(r, i); }, w, w_stride);
      (fetch(ahead), ...);
    }
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) acc[r][p] = Accumulator(acc[r][p].get() + splat(rows.below[r]));
    }
  }
#else
  template <class Kind, class... MaybeAhead>
  BANTAM_INLINE void add_rows(const int8_t* x, size_t x_stride, const int8_t* w, size_t w_stride, uint32_t quads,
                              MaybeAhead... ahead) {
    for (uint32_t i = 0; i < quads; ++i, x += 4, w += 64) {
      add_quad<Kind>(
          [&](uint32_t r) __attribute__((always_inline)) { return signed_quad(x + r * x_stride); }, w, w_stride);
      (fetch(ahead), ...);
    }
  }
#endif

  template <class Rows>
  BANTAM_INLINE void add_two_quads(const Rows& rows, uint32_t i, const int8_t* w, size_t w_stride) {
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      const auto quad = rows.quad(r, i);
      const auto further = rows.quad(r, i + 1);
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) {
        const int8_t* panel = w + p * w_stride;
        acc[r][p].add(quad, load_weights(panel), further, load_weights(panel + 64));
      }
    }
  }

  template <class Kind, class QuadOf>
  BANTAM_INLINE void add_quad(const QuadOf& quad_of, const int8_t* w, size_t w_stride) {
    Weights weights[kPanels];
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) weights[p] = load_weights(w + p * w_stride);
    multiply<Kind>(quad_of, weights);
  }

  template <class Kind, class QuadOf>
  BANTAM_INLINE void multiply(const QuadOf& quad_of, const Weights (&weights)[kPanels]) {
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      const auto quad = quad_of(r);
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) Kind::add(acc[r][p], quad, weights[p]);
    }
  }
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_QUAD_BLOCK_H_
