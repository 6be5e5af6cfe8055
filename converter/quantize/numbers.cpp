#include "quantize/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "kernels/kernels.h"

namespace bantam::convert {
namespace {

constexpr double kMost16 = 32767;
constexpr uint32_t kMostShift = 31;
/// Number of points at which a function is sampled to find its flat parts.
constexpr uint32_t kGrid = 1024;
/// A function is flat where it changes by less than this fraction of an output step.
constexpr double kFlat = 0.25;

}  // namespace

int64_t round_to(double value, double limit) { return std::llround(std::min(limit, std::max(-limit, value))); }

Factors to_factors(const std::vector<double>& factors, const std::string& what) {
  double largest = 0;
  for (const double factor : factors) largest = std::max(largest, std::fabs(factor));
  if (!(largest <= kMost16)) {
    throw Error(
        ExitCode::kUnsupported,
        fmt::format("{}: its numbers lie too far apart for 16-bit factors; convert it with --activations dynamic",
                    what));
  }
  Factors result;
  while (result.shift < kMostShift && std::ldexp(largest, static_cast<int>(result.shift) + 1) <= kMost16)
    ++result.shift;
  for (const double factor : factors) {
    result.multiplier.push_back(
        static_cast<int32_t>(round_to(std::ldexp(factor, static_cast<int>(result.shift)), kMost16)));
  }
  return result;
}

std::vector<float> activate(fb::ActivationKind kind, const std::vector<float>& x) {
  const size_t padded = (x.size() + 15) / 16 * 16;
  // The kernels require rows at 64-byte boundaries.
  struct alignas(64) Line {
    float v[16];
  };
  std::vector<Line> from(padded / 16), to(padded / 16);
  float* const rows = reinterpret_cast<float*>(from.data());
  float* const results = reinterpret_cast<float*>(to.data());
  std::copy(x.begin(), x.end(), rows);
  kernels::EpilogueRows args = {};
  args.x = rows;
  args.x_stride = padded;
  args.rows = 1;
  args.width = static_cast<uint32_t>(x.size());
  args.activation = static_cast<kernels::Activation>(kind);
  args.y = results;
  args.y_stride = padded;
  if (!kernels::table(Isa::kReference)->epilogue_rows(args)) {
    throw Error(ExitCode::kUnsupported, "an activation leaves the range of floats on the calibration texts");
  }
  return std::vector<float>(results, results + x.size());
}

FunctionTable make_table(fb::ActivationKind kind, float low, float high, bool symmetric) {
  if (!(high > low)) high = low + 1.0f;
  std::vector<float> grid(kGrid + 1);
  for (uint32_t i = 0; i <= kGrid; ++i) {
    grid[i] = static_cast<float>(double{low} + (double{high} - double{low}) * i / kGrid);
  }
  const std::vector<float> curve = activate(kind, grid);
  const auto [least, most] = std::minmax_element(curve.begin(), curve.end());
  FunctionTable table;
  double bottom = std::min(0.0, double{*least});
  double top = std::max(0.0, double{*most});
  if (symmetric) {
    top = std::max(top, -bottom);
    bottom = -top;
  }
  table.scale = top > bottom ? (top - bottom) / 254 : 1.0;
  table.zero = static_cast<int32_t>(round_to(-127 - bottom / table.scale, 127));
  const auto flat = [&](uint32_t from, uint32_t at) {  // from < at, or the reverse
    for (uint32_t i = std::min(from, at); i <= std::max(from, at); ++i) {
      if (std::fabs(double{curve[i]} - double{curve[at]}) > kFlat * table.scale) return false;
    }
    return true;
  };
  uint32_t first = 0;
  uint32_t last = kGrid;
  while (first + 1 < last && flat(0, first + 1)) ++first;
  while (last > first + 1 && flat(kGrid, last - 1)) --last;
  table.low = grid[first];
  table.step = (double{grid[last]} - double{grid[first]}) / 255;
  std::vector<float> inputs(256);
  for (uint32_t i = 0; i < 256; ++i) inputs[i] = static_cast<float>(table.low + table.step * i);
  for (const float v : activate(kind, inputs)) {
    table.values.push_back(static_cast<int32_t>(round_to(double{v} / table.scale + table.zero, 127)));
  }
  return table;
}

}  // namespace bantam::convert
