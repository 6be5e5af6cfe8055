// Second moments of the inputs of linear layers on calibration texts: sums of products of their columns, for rounding
// and pruning.
#ifndef BANTAM_CONVERTER_CALIBRATE_MOMENTS_H_
#define BANTAM_CONVERTER_CALIBRATE_MOMENTS_H_

#include <functional>
#include <string>
#include <vector>

#include "quantize/round.h"
#include "run/runner.h"

namespace bantam::convert {

/// Measures the inputs `names` of `graph` in an f32 build on the samples that `choose` returns (see measure_ranges), on
/// at most some thousand rows each, evenly spread.
InputMoments measure_moments(const Graph& graph, const std::vector<std::string>& names, uint32_t max_tokens,
                             const std::function<std::vector<Sample>(Runner&)>& choose,
                             const std::function<void(double)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_CALIBRATE_MOMENTS_H_
