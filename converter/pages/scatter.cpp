#include "pages/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pages/chart.h"
#include "pages/html.h"
#include "pages/pareto.h"
#include "pages/treemap.h"

namespace bantam::convert {
namespace {

constexpr double kLabelFont = 12, kRadius = 6, kGap = 4;

bool overlap(const Box& a, const Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/// Places labels beside points where they do not overlap other points or labels.
class Words {
 public:
  Words(const ChartFrame& frame, const std::vector<ScatterPoint>& points) : frame_(frame) {
    for (const ScatterPoint& point : points) {
      taken_.push_back(
          {frame.x(point.x) - kRadius - 2, frame.y(point.y) - kRadius - 2, 2 * kRadius + 4, 2 * kRadius + 4});
    }
  }

  /// Also keeps labels off this line between two points of the front.
  void avoid(const ScatterPoint& from, const ScatterPoint& to) {
    const double x = frame_.x(from.x), y = frame_.y(from.y), end = frame_.x(to.x), other = frame_.y(to.y);
    taken_.push_back({x, y - 2, end - x, 4});
    taken_.push_back({end - 2, std::min(y, other), 4, std::abs(y - other)});
  }

  std::string write(const ScatterPoint& point) {
    for (const std::string& words : {point.name, point.brief}) {
      const double width = text_width(words, kLabelFont), height = kLabelFont + 3;
      const double x = frame_.x(point.x), y = frame_.y(point.y);
      const double right = x + kRadius + kGap, left = x - kRadius - kGap - width;
      const double above = y - kRadius - kGap - height, below = y + kRadius + kGap;
      const Box places[] = {{right, y - height / 2, width, height}, {left, y - height / 2, width, height},
                            {right, above, width, height},          {left, above, width, height},
                            {x - width / 2, above, width, height},  {right, below, width, height},
                            {left, below, width, height},           {x - width / 2, below, width, height}};
      for (const Box& place : places) {
        if (place.x < frame_.left() || place.x + width > frame_.right() + 8) continue;
        if (place.y < frame_.top() - 8 || place.y + height > frame_.bottom()) continue;
        if (std::any_of(taken_.begin(), taken_.end(), [&](const Box& other) { return overlap(place, other); }))
          continue;
        taken_.push_back(place);
        return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", place.x, place.y + kLabelFont - 1,
                           html_escaped(words));
      }
    }
    return "";
  }

 private:
  const ChartFrame& frame_;
  std::vector<Box> taken_;
};

/// Draws the attainable region as a staircase through the front.
std::string staircase(const ChartFrame& frame, const Scatter& scatter, const std::vector<size_t>& front) {
  std::string path;
  for (size_t i = 0; i < front.size(); ++i) {
    const ScatterPoint& point = scatter.points[front[i]];
    if (i > 0)
      path += fmt::format(" H{:.1f} V{:.1f}", frame.x(point.x), frame.y(point.y));
    else
      path = fmt::format("M{:.1f} {:.1f}", frame.x(point.x), frame.y(point.y));
  }
  return "<path class=\"front\" d=\"" + path + "\"/>\n";
}

}  // namespace

std::vector<size_t> front_of(const Scatter& scatter) {
  std::vector<Candidate> candidates;
  for (const ScatterPoint& point : scatter.points)
    candidates.push_back({point.x, scatter.more_is_better ? point.y : -point.y});
  return pareto_front(candidates);
}

std::string scatter_svg(const Scatter& scatter, double width, double height) {
  double largest = 0, low = scatter.points[0].y, high = low;
  for (const ScatterPoint& point : scatter.points) {
    largest = std::max(largest, point.x);
    low = std::min(low, point.y);
    high = std::max(high, point.y);
  }
  if (!scatter.more_is_better) low = 0;
  const double margin = std::max((high - low) * 0.12, (scatter.least_span - (high - low)) / 2);
  const ChartAxis y = make_axis(low == 0 ? 0 : low - margin, high + margin, 5);
  const ChartFrame frame(width, height, make_axis(0, largest > 0 ? largest * 1.1 : 1, width < 500 ? 4 : 8), y,
                         scatter.x_title, scatter.y_title);
  const std::vector<size_t> front = front_of(scatter);
  std::string circles, words;
  Words writer(frame, scatter.points);
  for (size_t i = 1; i < front.size(); ++i) writer.avoid(scatter.points[front[i - 1]], scatter.points[front[i]]);
  for (size_t i = 0; i < scatter.points.size(); ++i) {
    const ScatterPoint& point = scatter.points[i];
    const bool best = std::find(front.begin(), front.end(), i) != front.end();
    circles +=
        fmt::format("<circle class=\"point{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}{}</title></circle>\n",
                    best ? " best" : "", frame.x(point.x), frame.y(point.y), kRadius, html_escaped(point.title),
                    best ? " \xC2\xB7 on the Pareto front" : "");
    words += writer.write(point);
  }
  return frame.svg(scatter.label, staircase(frame, scatter, front) + circles + words);
}

}  // namespace bantam::convert
