// What the activations of a model hold on calibration texts, measured with an f32 build in the same runtime.
#ifndef BANTAM_CONVERTER_CALIBRATE_RANGES_H_
#define BANTAM_CONVERTER_CALIBRATE_RANGES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "run/runner.h"

namespace bantam::convert {

/// Builds `graph` in f32 with the activations `names` as further outputs, runs the samples that `choose` makes of a runner
/// over it (sequences of up to `max_tokens`), and calls `visit` with what each of them holds. Files have kMaxOutputs outputs: of
/// more activations groups are built and run one after the other, over the samples of the first. Native kernels only, so that
/// every machine sees the same. `progress` is called with the share done.
void visit_activations(const Graph& graph, const std::vector<std::string>& names, uint32_t max_tokens,
                       const std::function<std::vector<Sample>(Runner&)>& choose,
                       const std::function<void(const std::string& name, const OutputRows& rows)>& visit,
                       const std::function<void(double)>& progress);

/// Makes the columns' range hold these rows too.
void widen(const OutputRows& rows, ColumnRange* range);

/// The columns' ranges of the activations `names`.
Ranges measure_ranges(const Graph& graph, const std::vector<std::string>& names, uint32_t max_tokens,
                      const std::function<std::vector<Sample>(Runner&)>& choose,
                      const std::function<void(double)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_CALIBRATE_RANGES_H_
