// Charts as SVG: text that fits, axes with round numbers, the frame that lines and points are drawn in.
#ifndef BANTAM_CONVERTER_PAGES_CHART_H_
#define BANTAM_CONVERTER_PAGES_CHART_H_

#include <string>
#include <vector>

namespace bantam::convert {

/// Pixels that `text` takes at most in the usual sans-serif fonts at this size: an estimate on the wide side.
double text_width(const std::string& text, double font);

/// `text`, or as much of it as fits `width` with "…" behind it; "" where not three characters fit.
std::string fit_text(const std::string& text, double width, double font);

/// [low, high] with round numbers in it.
struct ChartAxis {
  double low = 0, high = 1;
  std::vector<double> ticks;
  int decimals = 0;
  std::string label(double tick) const;
};
/// Covers [low, high], which may be one value, and about `ticks` round numbers (1, 2, 5 times a power of ten).
ChartAxis make_axis(double low, double high, int ticks);

/// Where a chart's values lie, and what is around them.
class ChartFrame {
 public:
  /// `x_title`, `y_title`: text; the latter stands above the axis.
  ChartFrame(double width, double height, ChartAxis x, ChartAxis y, std::string x_title, std::string y_title);

  double x(double value) const;
  double y(double value) const;
  double left() const { return left_; }
  double right() const { return right_; }
  double top() const { return top_; }
  double bottom() const { return bottom_; }

  /// An SVG element with grid, numbers and titles around `content`; `label` says what it shows, for readers who do not see.
  std::string svg(const std::string& label, const std::string& content) const;

 private:
  double width_, height_;
  ChartAxis x_, y_;
  std::string x_title_, y_title_;
  double left_, right_, top_, bottom_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_CHART_H_
