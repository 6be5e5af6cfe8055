// Squarified treemaps: the areas of boxes are proportional to values, and boxes are as close to squares as possible.
#ifndef BANTAM_CONVERTER_PAGES_TREEMAP_H_
#define BANTAM_CONVERTER_PAGES_TREEMAP_H_

#include <vector>

namespace bantam::convert {

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double area() const { return width * height; }
};

/// Returns a box inside `whole` for each value, in the order of the values. The boxes tile `whole`, and areas are
/// proportional to values. Values must be finite and nonnegative; a value of 0, or a `whole` without area, gives boxes
/// without area. Larger values come first, from the upper left. Bruls, Huizing, van Wijk: Squarified Treemaps (VisSym
/// 2000). O(n log n + n * boxes of a row).
std::vector<Box> squarify(const std::vector<double>& values, const Box& whole);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_TREEMAP_H_
