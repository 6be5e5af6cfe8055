// Ranges: what every activation of a model holds on calibration texts, measured with an f32 build in the same runtime.
#ifndef BANTAM_CONVERTER_QUANTIZE_RANGES_H_
#define BANTAM_CONVERTER_QUANTIZE_RANGES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "report/runner.h"

namespace bantam::convert {

/// Builds `graph` in f32 with the activations `names` as further outputs, runs the samples that `choose` makes of a runner
/// over it (sequences of up to `max_tokens`), and gathers the columns' ranges. Native kernels only, so that every machine
/// measures the same. `progress` is called with the share done.
Ranges measure_ranges(const Graph& graph, const std::vector<std::string>& names, uint32_t max_tokens,
                      const std::function<std::vector<Sample>(Runner&)>& choose,
                      const std::function<void(double)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_RANGES_H_
