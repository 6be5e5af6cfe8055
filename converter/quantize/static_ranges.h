// Ranges of the activations of a statically quantized file: the values measured on calibration texts, and the part that
// int8 covers.
#ifndef BANTAM_CONVERTER_QUANTIZE_STATIC_RANGES_H_
#define BANTAM_CONVERTER_QUANTIZE_STATIC_RANGES_H_

#include <map>
#include <string>

#include "quantize/migrate.h"

namespace bantam::convert {

/// The part of the measured values that int8 covers; values beyond it are clamped.
enum class RangeBy : uint8_t {
  kMinMax = 0,  // all
  kPercentile,  // all but a fraction of the values of each column
  /// The part that minimizes the squared error of rounding and clamping in each column (calibrate/histogram.h).
  kMse,
};

struct RangeOptions {
  RangeBy by = RangeBy::kMinMax;
  double percentile = 99.99;  // for kPercentile: percentage of the values within the range; above 50, up to 100
};

/// How an activation in an unfused graph is used.
enum class RangeUse {
  kSum,       // 16-bit sums, which must cover all values
  kColumns,   // int8 with one scale per column
  kFunction,  // input of a function by table: one range for all columns
};
struct RangeWish {
  RangeUse use = RangeUse::kSum;
  fb::ActivationKind function = fb::ActivationKind::none;
};

/// Returns the activations whose ranges make_static needs, by name. `unfused` is a graph from unfuse (static.h).
std::map<std::string, RangeWish> static_activations(const Graph& unfused);

struct StaticRanges {
  Ranges seen;  // all measured values
  Ranges kept;  // the part that int8 covers, if smaller: by column; for functions, one column

  /// Returns the range of an activation that int8 covers.
  const ColumnRange& reach(const std::string& name) const;
  /// Returns the whole measured range. Throws Error (internal) for an activation that was not measured.
  const ColumnRange& all(const std::string& name) const;
};

/// Describes the problem with the options; "" if there is none.
std::string range_problem(const RangeOptions& options);

/// Returns "minmax", "percentile" or "mse".
const char* range_name(RangeBy by);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_STATIC_RANGES_H_
