// Rounds weights so that a layer's output, not each weight, is as near as possible: GPTQ (arXiv 2210.17323), which
// applies the optimal brain surgeon's update (Hassibi and Stork, 1993) one column after the other. Corrects the bias
// for the mean of the remaining error.
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

  void add(const float* x);  // one row
};
/// Moments by the activation's name.
using InputMoments = std::map<std::string, Moments>;

/// Names of the inputs of linear layers and of experts whose weights `options` makes integers. SSA graph.
std::vector<std::string> rounded_inputs(const Graph& graph, const TypeOptions& options);

/// Returns the integers, of type i8 or i4, for a matrix of `rows` rows whose values are already multiplied by their
/// columns' factors. `moments` belong to the input divided by those factors. Scales are those of rounding to nearest;
/// columns are rounded in order of their input's mean square. Zeros stay zeros. O(width^3 + rows * width^2).
Rounded round_matrix(const std::vector<float>& values, size_t rows, fb::DType type, size_t group,
                     const Moments& moments);

/// Rounds the weights of every linear layer whose input is in `moments`, and corrects its bias; for experts only the
/// weights of their first layer. Call it on a graph with quantised activations, after migrate_outliers. Weights that
/// are also looked up, or that meet several inputs, stay unchanged.
void round_weights(Graph& graph, const InputMoments& moments, const std::function<void(double)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_ROUND_H_
