#include "calibrate/static_ranges.h"

#include <algorithm>
#include <cmath>

#include "calibrate/histogram.h"
#include "calibrate/ranges.h"
#include "quantize/numbers.h"

namespace bantam::convert {

namespace {

/// Histograms of the values of one column, or of all, by sign.
struct Signed {
  Histogram below, above;  // magnitudes of negative values; other values
  void add(float x) { x < 0 ? below.add(-x) : above.add(x); }
};

/// The range of one column, whose scale is symmetric.
double range_of(const Histogram& column, const RangeOptions& options) {
  const double range =
      options.by == RangeBy::kMse ? least_error_range(column) : column.quantile(options.percentile / 100);
  return range > 0 ? range : column.largest();
}

/// The mean squared error of computing a function with the table for this range, over the measured values.
double table_error(const Signed& seen, fb::ActivationKind function, double low, double high) {
  const FunctionTable table = make_table(function, static_cast<float>(low), static_cast<float>(high), false);
  std::vector<float> inputs;
  std::vector<double> counts;
  for (const bool negative : {true, false}) {
    const Histogram& side = negative ? seen.below : seen.above;
    for (uint32_t bin = 0; bin < side.counts().size(); ++bin) {
      if (side.counts()[bin] == 0) continue;
      inputs.push_back(static_cast<float>(negative ? -side.middle(bin) : side.middle(bin)));
      counts.push_back(side.counts()[bin]);
    }
  }
  const std::vector<float> exact = activate(function, inputs);
  double error = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const double at = std::clamp(std::round((double{inputs[i]} - table.low) / table.step), 0.0, 255.0);
    const double got = (table.values[static_cast<size_t>(at)] - table.zero) * table.scale;
    error += counts[i] * (got - double{exact[i]}) * (got - double{exact[i]});
  }
  return error;
}

/// Moves one end of [low, high] inwards, in steps down to a quarter, to where table_error is least.
void move_end(const Signed& seen, fb::ActivationKind function, double* end, const double* low, const double* high) {
  constexpr int kEnds = 24;
  const double start = *end;
  double best = start;
  double least = table_error(seen, function, *low, *high);
  for (int i = 1; i < kEnds; ++i) {
    *end = start * (1 - 0.75 * i / (kEnds - 1));
    const double error = table_error(seen, function, *low, *high);
    if (error >= least) continue;
    least = error;
    best = *end;
  }
  *end = best;
}

ColumnRange function_range(const Signed& seen, fb::ActivationKind function, const RangeOptions& options) {
  double low = -seen.below.largest();
  double high = seen.above.largest();
  if (options.by == RangeBy::kMse) {
    move_end(seen, function, &high, &low, &high);
    move_end(seen, function, &low, &low, &high);
  } else {
    // Cut off the same number of values at both ends.
    const double outside =
        (1 - options.percentile / 100) * static_cast<double>(seen.below.total() + seen.above.total());
    const auto end = [&](const Histogram& side) {
      const auto all = static_cast<double>(side.total());
      return outside >= all ? side.largest() : side.quantile(1 - outside / all);
    };
    low = -end(seen.below);
    high = end(seen.above);
  }
  return {{static_cast<float>(low)}, {static_cast<float>(high)}};
}

}  // namespace

StaticRanges measure_static(const Graph& unfused, const RangeOptions& options, uint32_t max_tokens,
                            const std::function<std::vector<Sample>(Runner&)>& choose,
                            const std::function<void(double)>& progress) {
  const std::map<std::string, RangeWish> wishes = static_activations(unfused);
  std::vector<std::string> names;
  names.reserve(wishes.size());
  for (const auto& [name, wish] : wishes) names.push_back(name);
  StaticRanges result;
  std::map<std::string, std::vector<Histogram>> columns;
  std::map<std::string, Signed> functions;
  const auto visit = [&](const std::string& name, const OutputRows& rows) {
    widen(rows, &result.seen[name]);
    const RangeUse use = wishes.at(name).use;
    if (options.by == RangeBy::kMinMax || use == RangeUse::kSum) return;
    if (use == RangeUse::kFunction) {
      Signed& seen = functions[name];
      for (const float x : rows.values) seen.add(x);
      return;
    }
    std::vector<Histogram>& seen = columns[name];
    seen.resize(rows.width);
    for (size_t i = 0; i < rows.values.size(); ++i) seen[i % rows.width].add(std::fabs(rows.values[i]));
  };
  visit_activations(unfused, names, max_tokens, choose, visit, progress);
  for (const auto& [name, seen] : columns) {
    ColumnRange& range = result.kept[name];
    for (const Histogram& column : seen) {
      range.high.push_back(static_cast<float>(range_of(column, options)));
      range.low.push_back(-range.high.back());
    }
  }
  for (const auto& [name, seen] : functions) {
    result.kept[name] = function_range(seen, wishes.at(name).function, options);
  }
  return result;
}

}  // namespace bantam::convert
