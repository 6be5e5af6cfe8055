#include "train/fake_quant.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "quantize/int4.h"

namespace bantam::train {
namespace {

/// Value `grid` with the gradient of `x`.
class StraightThrough : public torch::autograd::Function<StraightThrough> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& /*x*/, const at::Tensor& grid) {
    return grid;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& gradients) {
    return {gradients[0], at::Tensor()};
  }
};

/// Rounds a row in one pass, because a training step rounds every weight; torch's operators would each write all of
/// them again.
void round_row(const float* x, size_t columns, float* grid) {
  float largest = 0;
  for (size_t k = 0; k < columns; ++k) largest = std::max(largest, std::fabs(x[k]));
  const float scale = std::max(largest / 127.0F, 1e-30F);
  // Adding 1.5 * 2^23 leaves no bits for a fraction: this rounds to the nearest integer, halves to even.
  constexpr float kRound = 12582912.0F;
  for (size_t k = 0; k < columns; ++k) grid[k] = ((x[k] / scale + kRound) - kRound) * scale;
}

}  // namespace

at::Tensor fake_quant_rows(const at::Tensor& x) {
  const at::Tensor values = x.detach().contiguous();
  at::Tensor grid = torch::empty_like(values);
  const auto columns = static_cast<size_t>(values.size(-1)), rows = static_cast<size_t>(values.numel()) / columns;
  for (size_t n = 0; n < rows; ++n) {
    round_row(values.data_ptr<float>() + n * columns, columns, grid.data_ptr<float>() + n * columns);
  }
  return StraightThrough::apply(x, grid);
}

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
  return StraightThrough::apply(weight, grid);
}

}  // namespace bantam::train
