// Rounds weights to minimize the error of a layer's output instead of that of each weight: GPTQ (arXiv 2210.17323),
// which applies the optimal brain surgeon's update (Hassibi and Stork, 1993) column by column. Corrects the bias for
// the mean of the remaining error.
#ifndef BANTAM_CONVERTER_QUANTIZE_ROUND_H_
#define BANTAM_CONVERTER_QUANTIZE_ROUND_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "quantize/types.h"

namespace bantam::convert {

/// Second moments and sums of a layer's input on calibration texts (calibrate/moments.h).
struct Moments {
  size_t width = 0;
  uint64_t rows = 0;
  std::vector<double> products;  // [width][width], i >= j: the sum over rows of x[i] * x[j]; other elements are 0
  std::vector<double> sums;      // [width]

  void add(const float* x);  // adds one row
};
/// Moments by activation name.
using InputMoments = std::map<std::string, Moments>;

/// Names of the inputs of linear layers and experts whose weights `options` quantizes. Requires an SSA graph.
std::vector<std::string> rounded_inputs(const Graph& graph, const TypeOptions& options);

/// Returns the integers of type i8 or i4 for a matrix of `rows` rows whose values are already multiplied by their
/// column factors. `moments` are those of the input divided by these factors. Scales are those of rounding to nearest;
/// columns are rounded in descending order of their input's mean square. Zeros stay zeros. O(width^3 + rows * width^2).
Rounded round_matrix(const std::vector<float>& values, size_t rows, fb::DType type, size_t group,
                     const Moments& moments);

/// Rounds the weights of all linear layers whose input is in `moments`, and corrects their biases; for experts, only
/// the weights of their first layer. Call it on a graph with quantized activations, after migrate_outliers. Weights
/// that are also looked up, or that have several inputs, stay unchanged.
void round_weights(Graph& graph, const InputMoments& moments, const std::function<void(double)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_ROUND_H_
