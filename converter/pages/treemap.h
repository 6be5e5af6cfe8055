// Squarified treemaps: areas in proportion to values, boxes as near to squares as the values allow.
#ifndef BANTAM_CONVERTER_PAGES_TREEMAP_H_
#define BANTAM_CONVERTER_PAGES_TREEMAP_H_

#include <vector>

namespace bantam::convert {

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double area() const { return width * height; }
};

/// A box of `whole` for each value, in the values' order: they tile it, and each one's area is its value's share of the sum.
/// Values are finite and not negative; a value of 0, or a whole without area, gives boxes without area. Larger values come
/// first, from the upper left. Bruls, Huizing, van Wijk: Squarified Treemaps (VisSym 2000). O(n log n + n * boxes of a row).
std::vector<Box> squarify(const std::vector<double>& values, const Box& whole);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_TREEMAP_H_
