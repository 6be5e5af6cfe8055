#include "quantize/static_ranges.h"

#include <fmt/format.h>

#include "base/error.h"
#include "graph/access.h"

namespace bantam::convert {
std::map<std::string, RangeWish> static_activations(const Graph& unfused) {
  std::map<std::string, RangeWish> wishes;
  const auto& ops = main_subgraph(unfused).ops;
  const auto name = [&](int32_t t) { return tensor(unfused, t).name; };
  for (const auto& op : ops) {
    const auto kind = op->attributes.type;
    if (kind == fb::OpAttributes::Linear) wishes[name(op->outputs[0])] = {RangeUse::kColumns};
    if (kind != fb::OpAttributes::Row) continue;
    // Values before a norm or a residual are 16-bit sums; a norm's output is int8.
    wishes[name(op->inputs[0])] = {};
    if (op->epilogue->activation != fb::ActivationKind::none) {
      wishes[name(op->inputs[0])] = {RangeUse::kFunction, op->epilogue->activation};
    }
    if (op->epilogue->norm != fb::NormKind::none) wishes[name(op->outputs[0])] = {RangeUse::kColumns};
  }
  return wishes;
}

const ColumnRange& StaticRanges::all(const std::string& name) const {
  const auto found = seen.find(name);
  if (found == seen.end()) throw Error(ExitCode::kInternal, "no calibration of " + name);
  return found->second;
}

const ColumnRange& StaticRanges::reach(const std::string& name) const {
  const auto found = kept.find(name);
  return found == kept.end() ? all(name) : found->second;
}

std::string range_problem(const RangeOptions& options) {
  if (options.percentile > 50 && options.percentile <= 100) return "";
  return fmt::format(
      "--percentile {}: the percentage of an activation's numbers that the scales reach is above 50 and "
      "at most 100, such as 99.99",
      options.percentile);
}

const char* range_name(RangeBy by) {
  static constexpr const char* kNames[] = {"minmax", "percentile", "mse"};
  return kNames[static_cast<size_t>(by)];
}

}  // namespace bantam::convert
