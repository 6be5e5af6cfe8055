// The register blocks of int8 matrix products on 16 lanes: kRows rows of activations by kPanels panels of 16 outputs.
#ifndef BANTAM_KERNELS_GENERIC_DOT_BLOCK_H_
#define BANTAM_KERNELS_GENERIC_DOT_BLOCK_H_

#include "kernels/generic/blocks.h"
#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// What dot_rows multiplies activations with: weights, as a session stores activations; or keys, which carry the offset of
/// 128 themselves where there is one, so that queries do not. (Templates: the member need not exist where it is not used.)
struct LayerWeights {
  template <class Sums>
  static BANTAM_INLINE void add(Sums& acc, const SignedQuad& quad, const Weights& weights) {
    acc.add(quad, weights);
  }
};
struct Keys {
  template <class Sums>
  static BANTAM_INLINE void add(Sums& acc, const SignedQuad& quad, const Weights& keys) {
    if constexpr (kOffsetXor != 0) {
      acc.add_keys(quad, keys);
    } else {
      acc.add(quad, keys);
    }
  }
};

/// acc[r][p] += x[r][0, 4 * quads) . panel p's weights [quads][16][4]; panels lie w_stride bytes apart.
template <class Kind = LayerWeights, uint32_t kRows, uint32_t kPanels, class... MaybeAhead>
BANTAM_INLINE void dot_rows(Accumulator (&acc)[kRows][kPanels], const int8_t* x, size_t x_stride, const int8_t* w,
                            size_t w_stride, uint32_t quads, MaybeAhead... ahead) {
  const auto step = [&](const auto& quad_of) __attribute__((always_inline)) {
    Weights weights[kPanels];
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) weights[p] = load_weights(w + p * w_stride);
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      const SignedQuad quad = quad_of(r);
      BANTAM_UNROLL
      for (uint32_t p = 0; p < kPanels; ++p) Kind::add(acc[r][p], quad, weights[p]);
    }
    (fetch(ahead), ...);
    w += 64;
  };
  if constexpr (kPreparedQuads == 0) {
    for (uint32_t i = 0; i < quads; ++i, x += 4) {
      step([&](uint32_t r) __attribute__((always_inline)) { return signed_quad(x + r * x_stride); });
    }
  } else {
    for (uint32_t begin = 0; begin < quads; begin += kPreparedQuads) {
      const uint32_t count = quads - begin < kPreparedQuads ? quads - begin : kPreparedQuads;
      const PreparedRows<kRows> rows(x + size_t{begin} * 4, x_stride, count * 4);
      for (uint32_t i = 0; i < count; ++i) {
        step([&](uint32_t r) __attribute__((always_inline)) { return rows.quad(r, i); });
      }
    }
  }
}

/// Where the accumulators of panel p start: 0; or -128 * sum of the weights when activations are stored as x + 128; or
/// what the instruction set's signs need for rows x of `count` elements.
template <uint32_t kRows, uint32_t kPanels>
BANTAM_INLINE void start_rows(Accumulator (&acc)[kRows][kPanels], uint32_t p, const int32_t* sums,
                              const int32_t (&row_starts)[kRows]) {
  if constexpr (kOffsetXor != 0) {
    const I32 start = times_minus_128(load(sums));
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) acc[r][p] = Accumulator(start);
  } else {
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) acc[r][p] = Accumulator(splat(row_starts[r]));
  }
}

template <uint32_t kRows>
BANTAM_INLINE void measure_rows(int32_t (&row_starts)[kRows], const int8_t* x, size_t x_stride, uint32_t count) {
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) row_starts[r] = row_start(x + r * x_stride, count);
}

/// What the accumulators of queries start with when they meet keys: -128 times the query's sum where keys are stored as
/// k + 128, else what the instruction set's signs need.
template <uint32_t kRows>
BANTAM_INLINE void measure_queries(int32_t (&starts)[kRows], const int8_t* q, size_t q_stride, uint32_t count) {
  if constexpr (kOffsetXor == 0) {
    measure_rows(starts, q, q_stride, count);
  } else {
    for (uint32_t r = 0; r < kRows; ++r, q += q_stride) {
      I32 total = splat(int32_t{0});
      for_vectors(
          count, [&](uint32_t i, auto lanes)
                     __attribute__((always_inline)) { total = total + load_i8_lanes(q + i, lanes); });
      starts[r] = -128 * sum(total);
    }
  }
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_DOT_BLOCK_H_
