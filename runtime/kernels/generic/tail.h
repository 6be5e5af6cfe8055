// tail_rows: activation, residual, norm, f32 store, q8 store of each row, in passes over a row that lies in L1.
#ifndef BANTAM_KERNELS_GENERIC_TAIL_H_
#define BANTAM_KERNELS_GENERIC_TAIL_H_

#include "kernels/generic/math.h"
#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// One row of the call. Values are computed anew in each pass: cheaper than a buffer, and y may be absent or be x.
struct TailRow {
  const TailRows& a;
  const float* x;
  const float* residual;
  const int8_t* residual_q;
  F32x16 residual_scale;
  F32x16 mean, reciprocal;

  BANTAM_INLINE TailRow(const TailRows& args, uint32_t r)
      : a(args),
        x(args.x + r * args.x_stride),
        residual(args.residual != nullptr ? args.residual + r * args.residual_stride : nullptr),
        residual_q(args.residual_q != nullptr ? args.residual_q + r * args.residual_stride : nullptr),
        residual_scale(splat(args.residual_q != nullptr ? args.residual_scale[r] : 0.0f)),
        mean(splat(0.0f)),
        reciprocal(splat(1.0f)) {}

  /// Before the norm.
  template <class Lanes>
  BANTAM_INLINE F32x16 value(uint32_t i, Lanes lanes) const {
    F32x16 v = load(x + i);
    if (a.activation != Activation::kNone) v = activate_vector(a.activation, v);
    if (residual != nullptr) {
      v = v + load(residual + i);
    } else if (residual_q != nullptr) {
      v = v + to_f32(flip_offset(load_i8_lanes(residual_q + i, lanes))) * residual_scale;
    }
    return v;
  }

  /// Mean and reciprocal deviation of layer norm and rms norm.
  BANTAM_INLINE void measure() {
    const float width = static_cast<float>(a.width);
    if (a.norm == Norm::kLayer) {
      F32x16 total = splat(0.0f);
      for_vectors(a.width, [&](uint32_t i, auto lanes)
                               __attribute__((always_inline)) { total = total + lanes.keep_row(value(i, lanes)); });
      mean = splat(sum(total) / width);
    }
    F32x16 squares = splat(0.0f);
    for_vectors(a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
      const F32x16 d = lanes.keep_row(value(i, lanes) - mean);
      squares = fma(d, d, squares);
    });
    reciprocal = splat(1.0f / __builtin_sqrtf(sum(squares) / width + a.epsilon));
  }

  /// After the norm.
  template <class Lanes>
  BANTAM_INLINE F32x16 normed(uint32_t i, Lanes lanes) const {
    const F32x16 v = value(i, lanes);
    if (a.norm == Norm::kNone) return v;
    const F32x16 gamma = a.gamma != nullptr ? load(a.gamma + i) : splat(1.0f);
    const F32x16 beta = a.beta != nullptr ? load(a.beta + i) : splat(0.0f);
    if (a.norm == Norm::kAffine) return fma(v, gamma, beta);
    const F32x16 d = a.norm == Norm::kLayer ? v - mean : v;
    return fma(d * reciprocal, gamma, beta);
  }
};

inline bool tail_row(const TailRows& a, uint32_t r) {
  TailRow row(a, r);
  if (a.norm == Norm::kLayer || a.norm == Norm::kRms) row.measure();
  float* y = a.y != nullptr ? a.y + r * a.y_stride : nullptr;
  I32x16 worst = splat(int32_t{0});
  for_vectors(a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
    const F32x16 v = row.normed(i, lanes);
    worst = max(worst, magnitude_bits(lanes.keep_row(v)));
    if (y != nullptr) store(y + i, v);
  });
  const int32_t m = largest(worst);
  if (m >= kInfinityBits) return false;
  if (a.q == nullptr) return true;

  const RowScale scale = row_scale(m);
  a.q_scale[r] = scale.scale;
  const F32x16 inverse = splat(scale.inverse);
  int8_t* q = a.q + r * a.q_stride;
  for_vectors(a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
    const F32x16 v = lanes.keep_row(y != nullptr ? load(y + i) : row.normed(i, lanes));
    store_bytes(q + i, flip_offset(quantize(v, inverse)));
  });
  return true;
}

inline bool tail_rows(const TailRows& a) {
  bool finite = true;
  for (uint32_t r = 0; r < a.rows; ++r) finite &= tail_row(a, r);
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_TAIL_H_
