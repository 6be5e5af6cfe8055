// Fake quantization: rounds values to the grid of the integers that the file will store and returns them as f32.
// Gradients pass through unchanged (the straight-through estimator, arXiv 1308.3432). Training thereby sees the
// rounding of int8 and int4 files and adapts to it (arXiv 1712.05877).
#ifndef BANTAM_CONVERTER_TRAIN_FAKE_QUANT_H_
#define BANTAM_CONVERTER_TRAIN_FAKE_QUANT_H_

#include <torch/types.h>

namespace bantam::train {

/// Symmetric int8 with one scale per row of the last axis: weights per output, embeddings per row, activations per
/// token.
at::Tensor fake_quant_rows(const at::Tensor& x);

/// int4 in groups of `group` elements of a row of `weight` [N, K], with the scales that the file would get at this
/// point (quantize/int4.h).
at::Tensor fake_quant_groups(const at::Tensor& weight, int64_t group);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_FAKE_QUANT_H_
