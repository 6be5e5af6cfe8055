// Compares files by two measures: one point per file, and the Pareto front.
#ifndef BANTAM_CONVERTER_PAGES_SCATTER_H_
#define BANTAM_CONVERTER_PAGES_SCATTER_H_

#include <string>
#include <vector>

namespace bantam::convert {

struct ScatterPoint {
  double x = 0, y = 0;
  std::string name;   // the label, if there is room for it
  std::string brief;  // otherwise the label, if there is room for it
  std::string title;  // shown on hover
};

struct Scatter {
  std::string label, x_title, y_title;
  std::vector<ScatterPoint> points;  // at least one
  bool more_is_better = true;        // for y; for x, less is always better
  double least_span = 0;             // of the y axis, so that random variation does not look like a difference
};

/// Returns an SVG element. The x axis begins at 0. The y axis begins at 0 if less is better, otherwise near the least
/// value.
std::string scatter_svg(const Scatter& scatter, double width, double height);

/// Returns the indices of the points on the front, by ascending x.
std::vector<size_t> front_of(const Scatter& scatter);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_SCATTER_H_
