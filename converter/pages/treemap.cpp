#include "pages/treemap.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

namespace bantam::convert {
namespace {

/// Returns the worst aspect ratio (at least 1) in a row of areas along a side of length `side`; `sum`, `least` and
/// `largest` describe the areas.
double worst_ratio(double sum, double least, double largest, double side) {
  const double squared = side * side;
  return std::max(squared * largest / (sum * sum), sum * sum / (squared * least));
}

/// The remaining area, and the rows cut off along its shorter side.
class Squares {
 public:
  Squares(const Box& whole, std::vector<Box>* boxes) : rest_(whole), boxes_(*boxes) {}

  double side() const { return std::min(rest_.width, rest_.height); }

  /// Cuts off a row with these areas. `last`: the row takes all of the rest, so that rounding leaves no gap.
  void cut(const std::vector<size_t>& row, const std::vector<double>& areas, double sum, bool last) {
    const bool upright = rest_.width >= rest_.height;
    const double length = upright ? rest_.height : rest_.width;
    const double left = upright ? rest_.width : rest_.height;
    if (!(length > 0)) return;  // rounding has used up the area
    const double depth = last ? left : std::min(left, sum / length);
    double at = 0;
    for (const size_t index : row) {
      const double extent = length * (areas[index] / sum);
      boxes_[index] = upright ? Box{rest_.x, rest_.y + at, depth, extent} : Box{rest_.x + at, rest_.y, extent, depth};
      at += extent;
    }
    if (upright) {
      rest_ = {rest_.x + depth, rest_.y, std::max(0.0, rest_.width - depth), rest_.height};
    } else {
      rest_ = {rest_.x, rest_.y + depth, rest_.width, std::max(0.0, rest_.height - depth)};
    }
  }

 private:
  Box rest_;
  std::vector<Box>& boxes_;
};

}  // namespace

std::vector<Box> squarify(const std::vector<double>& values, const Box& whole) {
  std::vector<Box> boxes(values.size(), Box{whole.x, whole.y, 0, 0});
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (!(sum > 0) || !(whole.area() > 0)) return boxes;
  std::vector<double> areas;
  std::vector<size_t> order;
  for (size_t i = 0; i < values.size(); ++i) {
    areas.push_back(values[i] / sum * whole.area());
    if (areas[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return areas[a] > areas[b]; });

  Squares rows(whole, &boxes);
  std::vector<size_t> row;
  double row_sum = 0, ratio = std::numeric_limits<double>::infinity();
  for (const size_t next : order) {
    // The areas are sorted: the first of a row is its largest, and the new one is its smallest.
    const double largest = row.empty() ? areas[next] : areas[row.front()];
    const double with = worst_ratio(row_sum + areas[next], areas[next], largest, rows.side());
    if (!row.empty() && !(with <= ratio)) {
      rows.cut(row, areas, row_sum, false);
      row.clear();
      row_sum = 0;
      ratio = worst_ratio(areas[next], areas[next], areas[next], rows.side());
    } else {
      ratio = with;
    }
    row.push_back(next);
    row_sum += areas[next];
  }
  rows.cut(row, areas, row_sum, true);
  return boxes;
}

}  // namespace bantam::convert
