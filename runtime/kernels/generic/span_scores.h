// span_scores: the products of a span's row with the rows of labels.
#ifndef BANTAM_KERNELS_GENERIC_SPAN_SCORES_H_
#define BANTAM_KERNELS_GENERIC_SPAN_SCORES_H_

#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Computes the scores of kCount labels with rows at `labels`.
template <uint32_t kCount>
BANTAM_INLINE void scores_of_labels(const SpanScores& a, const uint32_t* rows, float* y, Finite* finite) {
  const float* labels[kCount];
  Sums sums[kCount] = {};
  for (uint32_t c = 0; c < kCount; ++c) labels[c] = a.labels + rows[c] * a.stride;
  for_vectors(
      a.width, [&](uint32_t k, auto lanes) __attribute__((always_inline)) {
        const F32 sum = load(a.start + k) + load(a.end + k);
        finite->note(lanes.keep_row(sum));
        const F32 span = lanes.keep_row(max(sum, splat(0.0f)));
        BANTAM_UNROLL
        for (uint32_t c = 0; c < kCount; ++c) {
          auto& part = partial(sums[c], k);
          part = fma(span, lanes.keep_row(load(labels[c] + k)), part);
        }
      });
  for (uint32_t c = 0; c < kCount; ++c) y[c] = total(sums[c]);
}

inline bool span_scores(const SpanScores& a) {
  constexpr uint32_t kTogether = 4;
  Finite finite;
  uint32_t i = 0;
  for (; i + kTogether <= a.count; i += kTogether) scores_of_labels<kTogether>(a, a.rows + i, a.y + i, &finite);
  for (; i < a.count; ++i) scores_of_labels<1>(a, a.rows + i, a.y + i, &finite);
  bool all = finite.all();
  for (i = 0; i < a.count; ++i) all = all && is_finite(a.y[i]);
  return all;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_SPAN_SCORES_H_
