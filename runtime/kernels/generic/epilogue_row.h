// epilogue_rows on one lane: sixteen elements at a time, so that the call's options are tested once for all of them and
// loops stay short. A row that is stored is computed once, in place; any other is recomputed in each pass.
#ifndef BANTAM_KERNELS_GENERIC_EPILOGUE_ROW_H_
#define BANTAM_KERNELS_GENERIC_EPILOGUE_ROW_H_

#include "kernels/generic/math.h"
#include "kernels/generic/passes.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

class EpilogueRow {
 public:
  BANTAM_INLINE EpilogueRow(const EpilogueRows& args, uint32_t row)
      : a_(args),
        row_(row),
        x_(args.x + row * args.x_stride),
        y_(args.y == nullptr ? nullptr : args.y + row * args.y_stride),
        residual_scale_(args.residual_q == nullptr ? 0.0f : args.residual_scale[row]),
        summed_(args.activation == Activation::kNone && !(linked::kGate && args.gate != nullptr) &&
                args.residual == nullptr && args.residual_q == nullptr && (y_ == nullptr || y_ == x_)) {}

  /// Returns false if some value is not finite.
  BANTAM_INLINE bool run() {
    if (a_.norm == Norm::kLayer || a_.norm == Norm::kRms) measure();
    const bool sums_stay = linked::kStoreSum && a_.y_before_norm;
    float* finals = sums_stay ? nullptr : y_;
    int32_t worst = 0;
    each_part([&](uint32_t i, uint32_t count) {
      worst = max(worst, magnitude_of(smoothed(i, count, normed(i, count, finals)), count));
    });
    keep_sums();
    if (finals != nullptr) a_.norm = Norm::kNone;  // y is final
    const RowScale scale = row_scale(worst);
    if (a_.q != nullptr) a_.q_scale[row_] = scale.scale;
    if (worst >= kInfinityBits) return false;
    if (a_.q == nullptr) return true;
    int8_t* q = a_.q + row_ * a_.q_stride;
    each_part([&](uint32_t i, uint32_t count) {
      quantize_row(smoothed(i, count, normed(i, count, nullptr)), count, scale.inverse, q + i);
    });
    clear_padding(q, a_.width);
    return true;
  }

 private:
  template <class F>
  BANTAM_INLINE void each_part(const F& f) const {
    for (uint32_t i = 0; i < a_.width; i += 16) f(i, a_.width - i < 16 ? a_.width - i : 16);
  }

  /// After a pass over all sums: they are in y.
  BANTAM_INLINE void keep_sums() {
    if (y_ == nullptr) return;
    x_ = y_;
    summed_ = true;
  }

  /// Returns elements [i, i + count) before the norm.
  BANTAM_INLINE const float* sums(uint32_t i, uint32_t count) { return summed_ ? x_ + i : new_sums(i, count); }
  BANTAM_NOINLINE const float* new_sums(uint32_t i, uint32_t count) {
    const float* x = x_ + i;
    float* to = y_ == nullptr ? some_ : y_ + i;
    const float* v = x;
    if (a_.activation != Activation::kNone) {
      memcpy(some_, v, count * sizeof(float));  // y may be the residual
      static_cast<void>(activate_block(a_.activation, some_, 0, 1, count, nullptr));
      v = some_;
    }
    if (linked::kGate && a_.gate != nullptr) {
      const float* gate = a_.gate + row_ * a_.gate_stride + i;
      multiply_rows(v, gate, count, some_);
      v = some_;
    }
    const size_t at = row_ * a_.residual_stride + i;
    if (a_.residual != nullptr) {
      add_rows(v, a_.residual + at, count, to);
      return to;
    }
    if (a_.residual_q != nullptr) {
      const int8_t* residual = a_.residual_q + at;
      const float scale = residual_scale_;
      for (uint32_t j = 0; j < count; ++j) to[j] = v[j] + to_f32(flip_offset(load_i8(residual + j))) * scale;
      return to;
    }
    if (v != to) memcpy(to, v, count * sizeof(float));
    return to;
  }

  /// Computes mean and reciprocal deviation; rms norm uses a mean of 0.
  BANTAM_NOINLINE void measure() {
    for (bool squares = a_.norm == Norm::kRms;; squares = true) {
      const float mean = mean_;
      Sums totals = {};
      each_part([&](uint32_t i, uint32_t count) {
        const float* v = sums(i, count);
        squares ? add_squares(v, mean, count, totals.part) : add_parts(v, count, totals.part);
      });
      keep_sums();
      mean_ = total(totals) / static_cast<float>(a_.width);
      if (!squares) continue;
      reciprocal_ = 1.0f / square_root(mean_ + a_.epsilon);
      mean_ = mean;
      return;
    }
  }

  /// Returns elements [i, i + count) after the norm; stores them in `finals` if it is not null.
  BANTAM_NOINLINE const float* normed(uint32_t i, uint32_t count, float* finals) {
    const float* v = sums(i, count);
    if (a_.norm == Norm::kNone) return v;
    float* to = finals == nullptr ? some_ : finals + i;
    // Without layer or rms norm, mean 0 and deviation 1 change nothing.
    const float* gamma = a_.gamma;
    const float* beta = a_.beta;
    const float mean = mean_;
    const float reciprocal = reciprocal_;
    if (gamma != nullptr && beta != nullptr) {
      normalize_row(v, count, mean, reciprocal, gamma + i, beta + i, to);
      return to;
    }
    for (uint32_t j = 0; j < count; ++j) {
      const float d = (v[j] - mean) * reciprocal;
      to[j] = fma(d, gamma == nullptr ? 1.0f : gamma[i + j], beta == nullptr ? 0.0f : beta[i + j]);
    }
    return to;
  }

  /// Returns the numbers that the q8 store quantizes, from v; v itself without a q8 store or smoothing.
  BANTAM_NOINLINE const float* smoothed(uint32_t i, uint32_t count, const float* v) {
    if (a_.q == nullptr || a_.smooth == nullptr) return v;
    multiply_rows(v, a_.smooth + i, count, some_);
    return some_;
  }

  EpilogueRows a_;
  uint32_t row_;
  const float* x_;
  float* y_;
  float residual_scale_;  // the row's own scale replaces it, if there is one
  bool summed_;           // x_ has the input of the norm
  float mean_ = 0.0f, reciprocal_ = 1.0f;
  float some_[16];
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_EPILOGUE_ROW_H_
