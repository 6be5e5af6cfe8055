// Measures the values of a model's activations on calibration texts, with an f32 build in the same runtime.
#ifndef BANTAM_CONVERTER_CALIBRATE_RANGES_H_
#define BANTAM_CONVERTER_CALIBRATE_RANGES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "run/runner.h"

namespace bantam::convert {

/// Builds `graph` in f32 with the activations `names` as additional outputs, runs the samples that `choose` returns for
/// its runner (sequences of up to `max_tokens`), and calls `visit` with the values of each activation. A file has at
/// most kMaxOutputs outputs: more activations are built and run in groups, one after the other, with the samples of the
/// first group. Uses native kernels only, so that all machines see the same values. Calls `progress` with the fraction
/// done.
void visit_activations(const Graph& graph, const std::vector<std::string>& names, uint32_t max_tokens,
                       const std::function<std::vector<Sample>(Runner&)>& choose,
                       const std::function<void(const std::string& name, const OutputRows& rows)>& visit,
                       const std::function<void(double)>& progress);

/// Widens the columns' ranges to include these rows.
void widen(const OutputRows& rows, ColumnRange* range);

/// Returns the column ranges of the activations `names`.
Ranges measure_ranges(const Graph& graph, const std::vector<std::string>& names, uint32_t max_tokens,
                      const std::function<std::vector<Sample>(Runner&)>& choose,
                      const std::function<void(double)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_CALIBRATE_RANGES_H_
