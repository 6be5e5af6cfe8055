// epilogue_rows: activation, gate, residual, norm, f32 store, q8 store of each row, in passes over a row in the
// first-level cache.
#ifndef BANTAM_KERNELS_GENERIC_EPILOGUE_H_
#define BANTAM_KERNELS_GENERIC_EPILOGUE_H_

#include "kernels/generic/math.h"
#include "kernels/generic/passes.h"
#include "linked.h"
#if defined(BANTAM_KERNEL_ONE_LANE)
#include "kernels/generic/epilogue_row.h"
#endif

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

enum class Residual : uint8_t { kNone = 0, kF32 = 1, kQ8 = 2 };

/// The operations of a call, known at compile time (for the calls that dominate in transformers) ...
template <Norm kNorm, Residual kResidual, bool kGate = false>
struct KnownEpilogue {
  static constexpr bool kFast = true;  // several rows at once
  BANTAM_INLINE explicit KnownEpilogue(const EpilogueRows&) {}
  static constexpr Activation activation() { return Activation::kNone; }
  static constexpr Residual residual() { return kResidual; }
  static constexpr Norm norm() { return kNorm; }
  static constexpr bool gate() { return linked::kGate && kGate; }
  static constexpr bool before_norm() { return false; }
};
/// ... or at run time.
struct AnyEpilogue {
  static constexpr bool kFast = false;
  Activation activation_;
  Residual residual_;
  Norm norm_;
  bool gate_, before_norm_;
  BANTAM_INLINE explicit AnyEpilogue(const EpilogueRows& a)
      : activation_(a.activation),
        residual_(a.residual != nullptr     ? Residual::kF32
                  : a.residual_q != nullptr ? Residual::kQ8
                                            : Residual::kNone),
        norm_(a.norm),
        gate_(a.gate != nullptr),
        before_norm_(a.y_before_norm) {}
  /// Vectors that flush tiny numbers do not compute activations: rows with one use the other path.
  BANTAM_INLINE Activation activation() const { return kFlushesTiny ? Activation::kNone : activation_; }
  BANTAM_INLINE Residual residual() const { return residual_; }
  BANTAM_INLINE Norm norm() const { return norm_; }
  BANTAM_INLINE bool gate() const { return linked::kGate && gate_; }
  BANTAM_INLINE bool before_norm() const { return linked::kStoreSum && before_norm_; }
};

/// Processes kRows rows at once: their sums are independent chains. Values are recomputed in each pass, which is
/// cheaper than a buffer, and y may be absent or equal to x.
template <uint32_t kRows, class Kind>
struct EpilogueBlock {
  const EpilogueRows a;  // a copy: stores cannot alias it, so its fields stay in registers
  const Kind kind;
  const float* x[kRows];
  const float* gate[kRows];
  const float* residual[kRows];
  const int8_t* residual_q[kRows];
  F32 residual_scale[kRows];
  float mean[kRows], reciprocal[kRows];

  BANTAM_INLINE EpilogueBlock(const EpilogueRows& args, uint32_t first) : a(args), kind(args) {
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      const uint32_t row = first + r;
      x[r] = a.x + row * a.x_stride;
      gate[r] = kind.gate() ? a.gate + row * a.gate_stride : nullptr;
      residual[r] = a.residual != nullptr ? a.residual + row * a.residual_stride : nullptr;
      residual_q[r] = a.residual_q != nullptr ? a.residual_q + row * a.residual_stride : nullptr;
      residual_scale[r] = splat(a.residual_q != nullptr ? a.residual_scale[row] : 0.0f);
      mean[r] = 0.0f;
      reciprocal[r] = 1.0f;
    }
  }

  /// Returns a value before the norm.
  template <class Lanes>
  BANTAM_INLINE F32 value(uint32_t r, uint32_t i, Lanes lanes) const {
    F32 v = load(x[r] + i);
    if (kind.activation() != Activation::kNone) v = activate_vector(kind.activation(), v);
    if (kind.gate()) v = v * load(gate[r] + i);
    if (kind.residual() == Residual::kF32) {
      v = v + load(residual[r] + i);
    } else if (kind.residual() == Residual::kQ8) {
      v = v + to_f32(flip_offset(load_i8_lanes(residual_q[r] + i, lanes))) * residual_scale[r];
    }
    return v;
  }

  /// Computes mean and reciprocal deviation of layer norm and rms norm.
  BANTAM_INLINE void measure() {
    const float width = static_cast<float>(a.width);
    Sums totals[kRows];
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) totals[r] = Sums{};
    if (kind.norm() == Norm::kLayer) {
      for_row(
          a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
            BANTAM_UNROLL
            for (uint32_t r = 0; r < kRows; ++r) {
              partial(totals[r], i) = partial(totals[r], i) + lanes.keep_row(value(r, i, lanes));
            }
          });
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        mean[r] = total(totals[r]) / width;
        totals[r] = Sums{};
      }
    }
    for_row(
        a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
          BANTAM_UNROLL
          for (uint32_t r = 0; r < kRows; ++r) {
            const F32 v = value(r, i, lanes);
            const F32 d = lanes.keep_row(kind.norm() == Norm::kLayer ? v - splat(mean[r]) : v);
            partial(totals[r], i) = fma(d, d, partial(totals[r], i));
          }
        });
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      reciprocal[r] = 1.0f / square_root(total(totals[r]) / width + a.epsilon);
    }
  }

  /// Returns `v` after the norm.
  BANTAM_INLINE F32 normed(uint32_t r, uint32_t i, F32 v) const {
    if (kind.norm() == Norm::kNone) return v;
    const F32 gamma = a.gamma != nullptr ? load(a.gamma + i) : splat(1.0f);
    const F32 beta = a.beta != nullptr ? load(a.beta + i) : splat(0.0f);
    if (kind.norm() == Norm::kAffine) return fma(v, gamma, beta);
    const F32 d = kind.norm() == Norm::kLayer ? v - splat(mean[r]) : v;
    return fma(d * splat(reciprocal[r]), gamma, beta);
  }

  /// Returns the number that the q8 store quantizes, from a row's final value.
  BANTAM_INLINE F32 smoothed(uint32_t i, F32 v) const { return a.smooth != nullptr ? v * load(a.smooth + i) : v; }
};

/// Computes rows [first, first + kRows). Returns false if some value is not finite, or if a tiny number was flushed to
/// zero (TinyNumbers). In the latter case nothing was stored: only the last pass stores y and q.
template <uint32_t kRows, class Kind>
BANTAM_NOINLINE bool epilogue_block(const EpilogueRows& args, uint32_t first) {
  const TinyNumbers tiny;
  EpilogueBlock<kRows, Kind> block(args, first);
  const EpilogueRows a = args;
  if (block.kind.norm() == Norm::kLayer || block.kind.norm() == Norm::kRms) block.measure();
  float* y = a.y != nullptr ? a.y + first * a.y_stride : nullptr;
  I32 worst[kRows];
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) worst[r] = splat(int32_t{0});
  for_row(
      a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        BANTAM_UNROLL
        for (uint32_t r = 0; r < kRows; ++r) {
          const F32 sum = block.value(r, i, lanes);
          const F32 v = block.normed(r, i, sum);
          const F32 stored = a.q != nullptr ? block.smoothed(i, v) : v;
          worst[r] = max(worst[r], magnitude_bits(lanes.keep_row(stored)));
          if (!kFlushesTiny && y != nullptr) store(y + r * a.y_stride + i, block.kind.before_norm() ? sum : v);
        }
      });
  bool finite = true;
  F32 inverse[kRows];
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) {
    const int32_t m = largest(worst[r]);
    finite &= m < kInfinityBits;
    const RowScale scale = row_scale(m);
    inverse[r] = splat(scale.inverse);
    if (tiny.seen(m)) return false;
    if (a.q != nullptr) a.q_scale[first + r] = scale.scale;
  }
  if (!finite || (a.q == nullptr && !kFlushesTiny)) return finite;

  int8_t* q = a.q == nullptr ? nullptr : a.q + first * a.q_stride;
  for_row(
      a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        BANTAM_UNROLL
        for (uint32_t r = 0; r < kRows; ++r) {
          const bool stored = !kFlushesTiny && y != nullptr;
          const F32 sum = stored ? load(y + r * a.y_stride + i) : block.value(r, i, lanes);
          const F32 v = !stored || block.kind.before_norm() ? block.normed(r, i, sum) : sum;
          if (kFlushesTiny && y != nullptr) store(y + r * a.y_stride + i, block.kind.before_norm() ? sum : v);
          if (kFlushesTiny && q == nullptr) continue;
          store_bytes(q + r * a.q_stride + i, flip_offset(quantize(lanes.keep_row(block.smoothed(i, v)), inverse[r])));
        }
      });
  if (kFlushesTiny && q == nullptr) return true;
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) clear_padding(q + r * a.q_stride, a.width);
  return true;
}

template <class Kind>
BANTAM_INLINE bool epilogue_blocks(const EpilogueRows& a) {
  bool finite = true;
  uint32_t r = 0;
  // The number of rows that registers allow.
  constexpr uint32_t kTogether = kMaxRows == 8 ? 4 : 2;
  // If blocks of products have two rows, a vector is four registers: enough independent chains.
  if constexpr (Kind::kFast && kMaxRows > 2) {
    for (; r + kTogether <= a.rows; r += kTogether) finite &= epilogue_block<kTogether, Kind>(a, r);
  }
  for (; r < a.rows; ++r) finite &= epilogue_block<1, Kind>(a, r);
  return finite;
}

/// Stores rows whose maxima are already known: one pass.
inline bool store_measured_rows(const EpilogueRows& a) {
  bool finite = true;
  for (uint32_t r = 0; r < a.rows; ++r) {
    I32 worst = load(a.row_maximum + r * 16);
    for (uint32_t i = kLanes; i < 16; i += kLanes) worst = max(worst, load(a.row_maximum + r * 16 + i));
    const int32_t m = largest(worst);
    finite &= m < kInfinityBits;
    const RowScale scale = row_scale(m);
    const F32 inverse = splat(scale.inverse);
    a.q_scale[r] = scale.scale;
    const float* x = a.x + r * a.x_stride;
    int8_t* q = a.q + r * a.q_stride;
#if defined(BANTAM_KERNEL_ONE_LANE)
    quantize_row(x, a.width, inverse, q);
#else
    constexpr uint32_t kStep = kLanes < 4 ? 4 : kLanes;
    for (uint32_t i = 0; i < a.width; i += kStep) {
      BANTAM_UNROLL_ALWAYS
      for (uint32_t j = 0; j < kStep; j += kLanes) {
        store_bytes(q + i + j, flip_offset(quantize(load(x + i + j), inverse)));
      }
    }
#endif
  }
  return finite;
}

#if defined(BANTAM_KERNEL_ONE_LANE)

inline bool epilogue_rows(const EpilogueRows& a) {
#if defined(BANTAM_KERNEL_VECTORS)
  constexpr bool kInVectors = linked::kDynamic;
  if (kInVectors && a.row_maximum != nullptr) return BANTAM_KERNEL_VECTORS::measured_rows(a);
#else
  constexpr bool kInVectors = false;
#endif
  if (!kInVectors && a.row_maximum != nullptr) return store_measured_rows(a);
  bool finite = true;
  for (uint32_t r = 0; r < a.rows; ++r) {
#if defined(BANTAM_KERNEL_VECTORS)
    if (kInVectors && BANTAM_KERNEL_VECTORS::epilogue_row(a, r)) continue;
#endif
    finite &= EpilogueRow(a, r).run();
  }
  return finite;
}

#else

inline bool epilogue_rows(const EpilogueRows& a) {
  if (a.row_maximum != nullptr) return store_measured_rows(a);
  const AnyEpilogue kind(a);
  // Sums of products, as in a convolution.
  if (linked::op(linked::kOpDepthwise) && kind.gate() && kind.activation() == Activation::kNone &&
      kind.norm() == Norm::kNone && !kind.before_norm() && kind.residual() == Residual::kF32) {
    return epilogue_blocks<KnownEpilogue<Norm::kNone, Residual::kF32, true>>(a);
  }
  if (kind.activation() == Activation::kNone && !kind.gate() && !kind.before_norm()) {
    if (kind.norm() == Norm::kNone && kind.residual() == Residual::kNone) {
      return epilogue_blocks<KnownEpilogue<Norm::kNone, Residual::kNone>>(a);
    }
    if (kind.norm() == Norm::kLayer && kind.residual() == Residual::kF32) {
      return epilogue_blocks<KnownEpilogue<Norm::kLayer, Residual::kF32>>(a);
    }
    if (kind.norm() == Norm::kLayer && kind.residual() == Residual::kQ8) {
      return epilogue_blocks<KnownEpilogue<Norm::kLayer, Residual::kQ8>>(a);
    }
  }
  return epilogue_blocks<AnyEpilogue>(a);
}

#endif

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_EPILOGUE_H_
