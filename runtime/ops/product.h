// A matrix inside an operator that multiplies f32 rows with it; it has the layout of a linear layer's weights.
#ifndef BANTAM_OPS_PRODUCT_H_
#define BANTAM_OPS_PRODUCT_H_

#include "ops/operands.h"
#include "ops/weights.h"

namespace bantam::ops {

/// Checks that `index` is a matrix of this shape, as in linear layers.
inline Verdict check_product(const Site& site, int32_t index, uint64_t n, uint32_t k) {
  if (index < 0) return corrupt("an operator lacks a matrix");
  const fb::Tensor& w = tensor(site.model, index);
  if (!is_constant(w) || w.shape()->size() != 2 || is_fixed(w)) {
    return corrupt("the weights are not a constant matrix", index);
  }
  const bool integers = integer_weights(w);
  if (!integers && w.layout() != fb::Layout::tile_n16) return corrupt("the weights are not laid out in tiles", index);
  if (integers && k > kMaxLinearK) return unsupported("an int8 layer has more than 131,071 inputs", index);
  if (integers ? !linked::kDynamic : !linked::kFloat || (!linked::kHalf && w.type() == fb::DType::f16)) {
    return not_linked("this build leaves out layers with these weights");
  }
  return extent(w, 0) == n && extent(w, 1) == k ? Verdict{} : corrupt("the matrix has another shape", index);
}

/// Returns true for weights in which any 16 adjacent outputs are contiguous.
inline bool lies_in_panels(const fb::Tensor& w) {
  return int8_weights(w) || int4_weights(w) || ternary_weights(w) || w.layout() == fb::Layout::tile_n16;
}

/// Rounds up to where the next part of scratch begins; on hosts parts are aligned for vectors.
constexpr uint64_t scratch_part(uint64_t bytes) { return round_up(bytes, linked::kHost ? 64 : 16); }

/// A matrix to multiply rows with; for integer weights the rows are first quantized to int8.
class Product {
 public:
  /// Bytes of scratch for `rows` rows.
  static uint64_t scratch(const fb::Tensor& w, uint32_t rows) {
    if (!integer_weights(w)) return 0;
    const uint64_t own =
        with_weights(w, [&w](auto format) { return static_cast<uint64_t>(decltype(format)::scratch(extent(w, 1))); });
    return scratch_part(uint64_t{rows} * kernels::pad16(extent(w, 1))) + scratch_part(uint64_t{rows} * sizeof(float)) +
           scratch_part(own);
  }

  /// `at`: scratch for `rows` rows. `weights` -1: there is no matrix.
  Product(const TileRun& run, int32_t weights, int32_t bias, uint32_t rows, uint8_t* at)
      : run_(run), w_(weights < 0 ? nullptr : &tensor(run.model, weights)), bias_(constant<float>(run, bias)) {
    if (w_ == nullptr) return;
    integers_ = integer_weights(*w_);
    k_ = extent(*w_, 1);
    n_ = kernels::pad16(extent(*w_, 0));
    if (!integers_) return;
    copies_ = reinterpret_cast<int8_t*>(at);
    at += scratch_part(uint64_t{rows} * kernels::pad16(k_));
    scales_ = reinterpret_cast<float*>(at);
    at += scratch_part(uint64_t{rows} * sizeof(float));
    args_.x = copies_;
    args_.x_stride = kernels::pad16(k_);
    args_.x_scale = scales_;
    args_.bias = bias_;
    args_.k = kernels::pad4(k_);
    args_.n = n_;
    bind_weights(run, *w_, &args_);
    args_.scratch = reinterpret_cast<int8_t*>(at);
  }

  /// Computes y = W x + bias. Rows are pad16 of their width apart.
  bool operator()(const float* x, uint32_t rows, float* y) { return outputs(x, kernels::pad16(k_), rows, 0, n_, y); }

  /// Computes only outputs [first, first + n), for weights in panels; first and n are multiples of 16. Rows of y are n
  /// apart.
  [[gnu::always_inline]] bool outputs(const float* x, size_t x_stride, uint32_t rows, uint32_t first, uint32_t n,
                                      float* y) const {
    if (takes_copies()) {
      const bool finite = quantize(x, x_stride, rows, k_, copies_, scales_);
      return of_copies(rows, first, n, y) && finite;
    }
    return run_.kernels.linear_f32({x, x_stride, rows, blob<uint8_t>(run_, w_->data()) + skipped(first),
                                    element(w_->type()), bias_from(first), k_, n, kernels::Activation::kNone, y, n});
  }

  /// Returns true for integer weights: rows are quantized into copies(), pad16 of their width apart, with one scale
  /// each.
  bool takes_copies() const { return !linked::kFloat || (linked::kDynamic && integers_); }
  int8_t* copies() const { return copies_; }
  float* scales() const { return scales_; }
  /// Computes the same outputs from rows that are already in copies().
  [[gnu::always_inline]] bool of_copies(uint32_t rows, uint32_t first, uint32_t n, float* y) const {
    kernels::LinearQ8 args = args_;
    args.w += skipped(first);
    args.w_scale += first;
    args.w_sum += first;
    if (args.factors != nullptr && first != 0) args.factors += size_t{int4_groups(*w_)} * first;
    args.bias = bias_from(first);
    args.n = n;
    args.rows = rows;
    args.y = y;
    args.y_stride = n;
    return run_.kernels.linear_q8(args);
  }

  bool quantize(const float* x, size_t x_stride, uint32_t rows, uint32_t columns, int8_t* q, float* scales) const {
    kernels::EpilogueRows copy = {};
    copy.x = x;
    copy.rows = rows;
    copy.width = columns;
    copy.x_stride = x_stride;
    copy.q_stride = kernels::pad16(columns);
    copy.q = q;
    copy.q_scale = scales;
    return run_.kernels.epilogue_rows(copy);
  }

 private:
  size_t skipped(uint32_t first) const { return first == 0 ? 0 : panel_bytes(*w_) * (first / 16); }
  const float* bias_from(uint32_t first) const { return bias_ == nullptr ? nullptr : bias_ + first; }
  /// Returns the bytes of the weights of 16 outputs.
  static size_t panel_bytes(const fb::Tensor& w) {
    const uint32_t k = extent(w, 1);
    if (!integer_weights(w)) return size_t{k} * (w.type() == fb::DType::f16 ? 32 : 64);
    return static_cast<size_t>(
        with_weights(w, [k](auto format) { return static_cast<uint64_t>(decltype(format)::bytes(16, k)); }));
  }

  const TileRun& run_;
  const fb::Tensor* w_;
  const float* bias_;
  bool integers_ = false;
  uint32_t k_ = 0, n_ = 0;
  int8_t* copies_ = nullptr;
  float* scales_ = nullptr;
  kernels::LinearQ8 args_ = {};
};

}  // namespace bantam::ops

#endif  // BANTAM_OPS_PRODUCT_H_
