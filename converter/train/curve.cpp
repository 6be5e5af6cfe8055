#include "train/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "pages/chart.h"
#include "pages/html.h"

namespace bantam::train {
namespace {

using Json = nlohmann::json;

/// Returns the values of one name over the points; NaN if a point lacks it.
std::vector<double> column(const std::vector<CurvePoint>& points, const Named CurvePoint::*part,
                           const std::string& name) {
  std::vector<double> values;
  for (const CurvePoint& point : points) {
    double value = std::nan("");
    for (const auto& [key, number] : point.*part) {
      if (key == name) value = number;
    }
    values.push_back(value);
  }
  return values;
}

/// The values of one name over the points.
struct Line {
  std::string name;
  std::vector<double> values;
};

convert::ChartAxis axis_of(const std::vector<Line>& lines) {
  double low = INFINITY, high = -INFINITY;
  for (const Line& line : lines) {
    for (const double value : line.values) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  return low <= high ? convert::make_axis(low, high, 5) : convert::make_axis(0, 1, 5);
}

std::string draw(const std::vector<CurvePoint>& points, const std::vector<Line>& lines, const std::string& title,
                 double width) {
  const double first = points.front().epoch, last = points.back().epoch;
  const double height = width < 500 ? 260 : 320;
  convert::ChartAxis epochs = convert::make_axis(first, std::max(last, first + 1), width < 500 ? 5 : 10);
  const auto broken = [](double tick) { return tick != std::floor(tick); };  // there are no fractions of epochs
  epochs.ticks.erase(std::remove_if(epochs.ticks.begin(), epochs.ticks.end(), broken), epochs.ticks.end());
  epochs.decimals = 0;
  const convert::ChartFrame frame(width, height, epochs, axis_of(lines), "epoch", "");
  std::string paths;
  for (size_t n = 0; n < lines.size(); ++n) {
    std::string path;
    for (size_t i = 0; i < points.size(); ++i) {
      const double value = lines[n].values[i];
      if (!std::isfinite(value)) continue;
      path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", frame.x(points[i].epoch), frame.y(value));
    }
    paths += fmt::format("<polyline class=\"{}\" points=\"{}\"><title>{}</title></polyline>\n",
                         convert::html_line_class(n), path, convert::html_escaped(lines[n].name));
  }
  return frame.svg(title, paths);
}

std::string chart(const std::vector<CurvePoint>& points, const Named CurvePoint::*part, const std::string& title) {
  if (points.empty() || (points.back().*part).empty()) return "";
  std::vector<Line> lines;
  std::string legend;
  for (const auto& [name, value] : points.back().*part) {
    legend += fmt::format("<li>{}{}</li>", convert::html_line(lines.size()), convert::html_name(name));
    lines.push_back({name, column(points, part, name)});
  }
  return "<h2>" + convert::html_escaped(title) + "</h2>\n" +
         convert::html_figure([&](double width) { return draw(points, lines, title, width); },
                              "<ul class=\"legend\">" + legend + "</ul>");
}

std::string table(const std::vector<CurvePoint>& points) {
  std::vector<std::string> head = {"epoch", "step", "learning rate", "sparsity"};
  if (points.empty()) return "";
  for (const auto& [name, value] : points.front().losses) head.push_back(convert::html_name(name));
  for (const auto& [name, value] : points.front().scores) head.push_back(convert::html_name(name));
  std::vector<std::vector<convert::HtmlCell>> rows;
  for (const CurvePoint& point : points) {
    const auto number = [&](double value) {
      rows.back().push_back(convert::number_cell(value, fmt::format("{:.4g}", value)));
    };
    rows.emplace_back();
    number(point.epoch);
    number(static_cast<double>(point.step));
    number(point.rate);
    number(point.sparsity);
    for (const auto& [name, value] : point.losses) number(value);
    for (const auto& [name, value] : point.scores) number(value);
  }
  return "<h2>All epochs</h2>\n" + convert::html_table("Epochs", head, rows);
}

Json named_json(const Named& named) {
  Json list = Json::array();
  for (const auto& [name, value] : named) list.push_back({name, value});
  return list;
}

Named named_from(const Json& list) {
  Named named;
  for (const Json& item : list) named.emplace_back(item.at(0).get<std::string>(), item.at(1).get<double>());
  return named;
}

}  // namespace

std::string curve_csv(const std::vector<CurvePoint>& points) {
  std::string csv = "epoch,step,learning_rate,sparsity";
  if (!points.empty()) {
    for (const auto& [name, value] : points.front().losses) csv += "," + name;
    for (const auto& [name, value] : points.front().scores) csv += "," + name;
  }
  csv += "\n";
  for (const CurvePoint& point : points) {
    csv += fmt::format("{},{},{:.6g},{:.4g}", point.epoch, point.step, point.rate, point.sparsity);
    for (const auto& [name, value] : point.losses) csv += fmt::format(",{:.6g}", value);
    for (const auto& [name, value] : point.scores) csv += fmt::format(",{:.6g}", value);
    csv += "\n";
  }
  return csv;
}

std::string curve_html(const std::vector<CurvePoint>& points, const std::string& title) {
  return convert::html_page(title, chart(points, &CurvePoint::losses, "Loss by epoch") +
                                       chart(points, &CurvePoint::scores, "Validation scores by epoch") +
                                       table(points));
}

Json to_json(const std::vector<CurvePoint>& points) {
  Json list = Json::array();
  for (const CurvePoint& point : points) {
    list.push_back({{"epoch", point.epoch},
                    {"step", point.step},
                    {"rate", point.rate},
                    {"sparsity", point.sparsity},
                    {"losses", named_json(point.losses)},
                    {"scores", named_json(point.scores)}});
  }
  return list;
}

std::vector<CurvePoint> curve_from_json(const Json& json) {
  std::vector<CurvePoint> points;
  for (const Json& item : json) {
    CurvePoint point;
    point.epoch = item.at("epoch").get<uint32_t>();
    point.step = item.at("step").get<uint64_t>();
    point.rate = item.at("rate").get<double>();
    point.sparsity = item.at("sparsity").get<double>();
    point.losses = named_from(item.at("losses"));
    point.scores = named_from(item.at("scores"));
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace bantam::train
