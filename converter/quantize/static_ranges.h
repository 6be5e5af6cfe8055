// Ranges of the activations of a statically quantized file: the values seen on calibration texts, and the part that
// int8 shall cover.
#ifndef BANTAM_CONVERTER_QUANTIZE_STATIC_RANGES_H_
#define BANTAM_CONVERTER_QUANTIZE_STATIC_RANGES_H_

#include <map>
#include <string>

#include "quantize/migrate.h"

namespace bantam::convert {

/// The part of the calibrated values that the steps of int8 cover; values beyond it are clamped.
enum class RangeBy : uint8_t {
  kMinMax = 0,  // all
  kPercentile,  // all but a share of the numbers of each column
  kMse,  // the part that makes rounding's and clamping's squared error least, of each column (calibrate/histogram.h)
};

struct RangeOptions {
  RangeBy by = RangeBy::kMinMax;
  double percentile = 99.99;  // of the numbers within the range, for kPercentile; above 50, up to 100
};

/// The use of an activation in an unfused graph.
enum class RangeUse {
  kSum,       // 16-bit sums: all must be reached
  kColumns,   // int8 with a scale a column
  kFunction,  // goes through a function by table: one range for all columns
};
struct RangeWish {
  RangeUse use = RangeUse::kSum;
  fb::ActivationKind function = fb::ActivationKind::none;
};

/// Returns the activations whose ranges make_static needs, by name. `unfused` is a graph as unfuse makes it (static.h).
std::map<std::string, RangeWish> static_activations(const Graph& unfused);

struct StaticRanges {
  Ranges seen;  // all of what calibration saw
  Ranges kept;  // what int8 shall reach, where that is less: columns; of functions one column

  /// Returns the range of an activation that int8 shall cover.
  const ColumnRange& reach(const std::string& name) const;
  /// Returns the whole measured range. Throws Error (internal) for an activation that was not measured.
  const ColumnRange& all(const std::string& name) const;
};

/// Describes the problem with the options; "" if there is none.
std::string range_problem(const RangeOptions& options);

/// "minmax", "percentile", "mse".
const char* range_name(RangeBy by);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_STATIC_RANGES_H_
