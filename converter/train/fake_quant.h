// Fake quantization: values go through the grid of the integers that the file will store and come back as f32; gradients
// pass as if nothing had happened (the straight-through estimator, arXiv 1308.3432). Training then sees, and makes up for,
// the rounding of int8 and int4 files (arXiv 1712.05877).
#ifndef BANTAM_CONVERTER_TRAIN_FAKE_QUANT_H_
#define BANTAM_CONVERTER_TRAIN_FAKE_QUANT_H_

#include <torch/types.h>

namespace bantam::train {

/// int8, symmetric, one scale a row of the last axis: weights by output, embeddings by row, activations by token.
at::Tensor fake_quant_rows(const at::Tensor& x);

/// int4 in groups of `group` elements of a row of `weight` [N, K], with the scales that the file would get now
/// (quantize/int4.h).
at::Tensor fake_quant_groups(const at::Tensor& weight, int64_t group);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_FAKE_QUANT_H_
