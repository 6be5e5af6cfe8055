#include "train/fake_quant.h"

#include <vector>

#include "quantize/int4.h"

namespace bantam::train {
namespace {

at::Tensor rounded(const at::Tensor& x, double largest) {
  const at::NoGradGuard guard;
  const at::Tensor scale = (x.abs().amax(-1, true) / largest).clamp_min(1e-30);
  return (x / scale).round() * scale;
}

/// `grid` in value, `x` in gradient.
at::Tensor straight_through(const at::Tensor& x, const at::Tensor& grid) { return x + (grid - x).detach(); }

}  // namespace

at::Tensor fake_quant_rows(const at::Tensor& x) { return straight_through(x, rounded(x, 127)); }

at::Tensor fake_quant_groups(const at::Tensor& weight, int64_t group) {
  const at::Tensor values = weight.detach().contiguous();
  at::Tensor grid = torch::empty_like(values);
  const auto columns = static_cast<size_t>(values.size(1)), width = static_cast<size_t>(group);
  std::vector<int8_t> stored(columns);
  for (int64_t n = 0; n < values.size(0); ++n) {
    const float* row = values.data_ptr<float>() + n * values.size(1);
    float* out = grid.data_ptr<float>() + n * values.size(1);
    const convert::Int4Scales scales = convert::int4_scales(row, columns, width);
    convert::int4_quantize(row, columns, width, scales, stored.data());
    for (size_t k = 0; k < columns; ++k) {
      out[k] = static_cast<float>(stored[k]) * (scales.scale * static_cast<float>(scales.factors[k / width]));
    }
  }
  return straight_through(weight, grid);
}

}  // namespace bantam::train
