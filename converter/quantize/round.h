// Rounding weights so that a layer's output, not each weight, is as near as can be: GPTQ (arXiv 2210.17323), which is
// optimal brain surgeon's update (Hassibi and Stork, 1993) one column after the other. And the bias that makes up for the mean of
// what is left.
#ifndef BANTAM_CONVERTER_QUANTIZE_ROUND_H_
#define BANTAM_CONVERTER_QUANTIZE_ROUND_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "quantize/types.h"

namespace bantam::convert {

/// What a layer's input held on calibration texts (calibrate/moments.h).
struct Moments {
  size_t width = 0;
  uint64_t rows = 0;
  std::vector<double> products;  // [width][width], i >= j: the sum over rows of x[i] * x[j]; other elements are 0
  std::vector<double> sums;      // [width]

  void add(const float* x);  // one row
};
/// By the activation's name.
using InputMoments = std::map<std::string, Moments>;

/// Names of the inputs of linear layers and of experts whose weights `options` makes integers. SSA graph.
std::vector<std::string> rounded_inputs(const Graph& graph, const TypeOptions& options);

/// The integers for a matrix of `rows` rows, whose values are already times their columns' factors, of type i8 or i4.
/// `moments`: of the input divided by those factors. Scales are those of rounding to nearest; columns go in order of their
/// input's mean square. Zeros stay zeros. O(width^3 + rows * width^2).
Rounded round_matrix(const std::vector<float>& values, size_t rows, fb::DType type, size_t group,
                     const Moments& moments);

/// Rounds the weights of every linear layer whose input is in `moments`, and corrects its bias; of experts those of the first of
/// their layers. To be called on a graph with
/// quantised activations, after migrate_outliers. Weights that are also looked up, or that several inputs meet, stay.
void round_weights(Graph& graph, const InputMoments& moments, const std::function<void(double)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_ROUND_H_
