// Charts as SVG: text that is fitted to a width, axes with round numbers, and the frame for lines and points.
#ifndef BANTAM_CONVERTER_PAGES_CHART_H_
#define BANTAM_CONVERTER_PAGES_CHART_H_

#include <string>
#include <vector>

namespace bantam::convert {

/// Returns an upper estimate of the width of `text` in pixels in the usual sans-serif fonts of this size.
double text_width(const std::string& text, double font);

/// Returns `text`, or its beginning followed by "…" if it does not fit `width`; "" if not even three characters fit.
std::string fit_text(const std::string& text, double width, double font);

/// The range [low, high] of an axis, and round numbers in it.
struct ChartAxis {
  double low = 0, high = 1;
  std::vector<double> ticks;
  int decimals = 0;
  std::string label(double tick) const;
};
/// Covers [low, high], which may be a single value, with about `ticks` round numbers (1, 2, 5 times a power of ten).
ChartAxis make_axis(double low, double high, int ticks);

/// The area of a chart's values, and the axes around it.
class ChartFrame {
 public:
  /// `x_title` and `y_title` are plain text; the y title is above the axis.
  ChartFrame(double width, double height, ChartAxis x, ChartAxis y, std::string x_title, std::string y_title);

  double x(double value) const;
  double y(double value) const;
  double left() const { return left_; }
  double right() const { return right_; }
  double top() const { return top_; }
  double bottom() const { return bottom_; }

  /// Returns an SVG element with grid, numbers and titles around `content`. `label` describes the chart for screen
  /// readers.
  std::string svg(const std::string& label, const std::string& content) const;

 private:
  double width_, height_;
  ChartAxis x_, y_;
  std::string x_title_, y_title_;
  double left_, right_, top_, bottom_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_CHART_H_
