// align_row: the mean of a source's rows, weighted by how well they match a row of a decoder.
#ifndef BANTAM_KERNELS_GENERIC_ALIGN_H_
#define BANTAM_KERNELS_GENERIC_ALIGN_H_

#include "kernels/generic/math.h"
#include "kernels/generic/softmax.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Scores of kCount keys from number `first` on.
template <bool kAdditive, uint32_t kCount>
BANTAM_INLINE void scores_of_keys(const AlignRow& a, uint32_t first) {
  Sums sums[kCount] = {};
  const float* keys = a.keys + first * a.key_stride;
  for_vectors(
      a.width, [&](uint32_t k, auto lanes) __attribute__((always_inline)) {
        const F32 q = load(a.q + k);
        const F32 v = kAdditive ? load_lanes(a.v + k, lanes) : lanes.keep_row(q);
        BANTAM_UNROLL
        for (uint32_t c = 0; c < kCount; ++c) {
          const F32 key = load(keys + c * a.key_stride + k);
          auto& part = partial(sums[c], k);
          part = fma(v, lanes.keep_row(kAdditive ? tanh(q + key) : key), part);
        }
      });
  for (uint32_t c = 0; c < kCount; ++c) a.weights[first + c] = a.scale * total(sums[c]);
}

template <bool kAdditive>
BANTAM_NOINLINE void scores_of_source(const AlignRow& a) {
  constexpr uint32_t kTogether = kAdditive ? 2 : 4;
  uint32_t j = 0;
  for (; j + kTogether <= a.count; j += kTogether) scores_of_keys<kAdditive, kTogether>(a, j);
  for (; j < a.count; ++j) scores_of_keys<kAdditive, 1>(a, j);
}

/// Makes weights decrease with the distance from a.place.
BANTAM_INLINE void fall_off(const AlignRow& a) {
  float* falls = a.weights + pad16(a.count);
  for (uint32_t j = 0; j < a.count; ++j) {
    const float distance = static_cast<float>(j) - a.place;
    falls[j] = a.fall * (distance * distance);
  }
  for_vectors(
      a.count, [&](uint32_t j, auto lanes) __attribute__((always_inline)) {
        const F32 share = exp_below_88(load_lanes(falls + j, lanes));
        store(a.weights + j, load(a.weights + j) * share);
      });
}

inline bool align_row(const AlignRow& a) {
  if (a.v != nullptr) {
    scores_of_source<true>(a);
  } else {
    scores_of_source<false>(a);
  }
  if (!softmax_row(a.weights, a.count)) return false;
  if (a.fall != 0.0f) fall_off(a);
  Finite finite;
  for_vectors(
      a.value_width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        F32 sum = splat(0.0f);
        const float* value = a.values + i;
        for (uint32_t j = 0; j < a.count; ++j, value += a.value_stride)
          sum = fma(splat(a.weights[j]), load(value), sum);
        finite.note(lanes.keep_row(sum));
        store(a.y + i, sum);
      });
  return finite.all();
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_ALIGN_H_
