// scan_row: a token of a recurrence whose columns are independent.
#ifndef BANTAM_KERNELS_GENERIC_SCAN_H_
#define BANTAM_KERNELS_GENERIC_SCAN_H_

#include "kernels/generic/math.h"
#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// sqrt(1 - e^(2 u)) for u <= 0, without the cancellation near u = 0: 1 - e^(2 u) = 2 t / (1 + t), t = tanh(-u). The
/// root of each lane is that of one float, which is rounded correctly everywhere.
BANTAM_INLINE F32 rest_of_unit(F32 u) {
  const F32 t = tanh(splat(0.0f) - u);
  float lanes[kLanes];
  store(lanes, (t + t) / (splat(1.0f) + t));
  for (float& lane : lanes) lane = square_root(lane);
  return load(lanes);
}

BANTAM_INLINE F32 selective_vector(const ScanRow& a, uint32_t i, size_t block) {
  const F32 steps = load(a.steps + i), x = load(a.x + i), more = steps * x;
  F32 y = splat(0.0f);
  for (uint32_t n = 0; n < a.states; ++n) {
    const size_t at = n * block + i;
    F32 h = more * splat(a.b[n]);
    if (a.before != nullptr) h = fma(exp(steps * load(a.rates + at)), load(a.before + at), h);
    store(a.after + at, h);
    y = fma(splat(a.c[n]), h, y);
  }
  return a.skip == nullptr ? y : fma(load(a.skip + i), x, y);
}

BANTAM_INLINE F32 gated_vector(const ScanRow& a, uint32_t i) {
  F32 h = load(a.x + i);
  if (a.before != nullptr) {
    const F32 u = load(a.steps + i) * load(a.rates + i);
    h = fma(exp(u), load(a.before + i), rest_of_unit(u) * h);
  }
  store(a.after + i, h);
  return h;
}

BANTAM_INLINE F32 weighted_vector(const ScanRow& a, uint32_t i, size_t block) {
  const F32 x = load(a.x + i), s = load(a.steps + i);
  if (a.before == nullptr) {
    store(a.after + i, x);
    store(a.after + block + i, s);
    return x;
  }
  const F32 mean = load(a.before + i), weight = load(a.before + block + i), more = x - mean;
  const F32 left = weight + load(a.rates + i), d = s - left;
  const F32 y = fma(sigmoid(s + (load(a.rates + block + i) - weight)), more, mean);
  store(a.after + i, fma(sigmoid(d), more, mean));
  store(a.after + block + i, left + softplus(d));
  return y;
}

inline bool scan_row(const ScanRow& a) {
  const size_t block = pad16(a.width);
  Finite finite;
  for_vectors(
      a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        const F32 y = a.b != nullptr  ? selective_vector(a, i, block)
                      : a.states == 1 ? gated_vector(a, i)
                                      : weighted_vector(a, i, block);
        const F32 kept = lanes.keep_row(y);
        finite.note(kept);
        store(a.y + i, kept);
      });
  return finite.all();
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_SCAN_H_
