// Ranges of the activations of a statically quantized file, measured on calibration texts.
#ifndef BANTAM_CONVERTER_CALIBRATE_STATIC_RANGES_H_
#define BANTAM_CONVERTER_CALIBRATE_STATIC_RANGES_H_

#include <functional>
#include <vector>

#include "quantize/static_ranges.h"
#include "run/runner.h"

namespace bantam::convert {

/// Runs the samples that `choose` returns on an f32 build. Memory: 2 KB per column, except for kMinMax.
StaticRanges measure_static(const Graph& unfused, const RangeOptions& options, uint32_t max_tokens,
                            const std::function<std::vector<Sample>(Runner&)>& choose,
                            const std::function<void(double)>& progress);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_CALIBRATE_STATIC_RANGES_H_
