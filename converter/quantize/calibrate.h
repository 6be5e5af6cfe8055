// Calibration: what activations look like on real texts, measured with an f32 build in the same runtime.
#ifndef BANTAM_CONVERTER_QUANTIZE_CALIBRATE_H_
#define BANTAM_CONVERTER_QUANTIZE_CALIBRATE_H_

#include <functional>
#include <vector>

#include "quantize/migrate.h"
#include "report/runner.h"

namespace bantam::convert {

/// Builds `graph` in f32 with every migratable(graph) activation as a further output, runs the samples that `choose`
/// makes of a runner over it (sequences of up to `max_tokens`), and gathers the columns' maxima. Native
/// kernels only, so that every machine measures the same. `progress` is called with the share done.
ColumnMaxima calibrate(const Graph& graph, uint32_t max_tokens,
                       const std::function<std::vector<Sample>(Runner&)>& choose,
                       const std::function<void(double)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_CALIBRATE_H_
