// Files against each other: two measures, a point a file, and the Pareto front.
#ifndef BANTAM_CONVERTER_PAGES_SCATTER_H_
#define BANTAM_CONVERTER_PAGES_SCATTER_H_

#include <string>
#include <vector>

namespace bantam::convert {

struct ScatterPoint {
  double x = 0, y = 0;
  std::string name;   // written beside it where there is room
  std::string brief;  // else this, where there is room for it
  std::string title;  // on hover
};

struct Scatter {
  std::string label, x_title, y_title;
  std::vector<ScatterPoint> points;  // at least one
  bool more_is_better = true;        // of y; of x, less is
  double least_span = 0;             // of the y axis, so that chance does not look like a difference
};

/// An SVG element. x begins at 0; y does where less is better, else near the least value.
std::string scatter_svg(const Scatter& scatter, double width, double height);

/// Numbers of the points on the front, by rising x.
std::vector<size_t> front_of(const Scatter& scatter);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_SCATTER_H_
