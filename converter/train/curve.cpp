#include "train/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/html.h"

namespace bantam::train {
namespace {

using Json = nlohmann::json;

/// Values of one name over the points; NaN where a point lacks it.
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

constexpr const char* kColours[] = {"#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a"};
constexpr double kWidth = 640, kHeight = 220, kLeft = 56, kBottom = 28, kTop = 8;

struct Scale {
  double low, high;
  double y(double value) const { return kTop + (kHeight - kTop) * (1 - (value - low) / (high - low)); }
};

Scale scale_of(const std::vector<std::vector<double>>& lines) {
  double low = INFINITY, high = -INFINITY;
  for (const auto& line : lines) {
    for (const double value : line) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (!(low < high)) return {low - 0.5, low + 0.5};
  return {low, high};
}

std::string chart(const std::vector<CurvePoint>& points, const Named CurvePoint::*part, const std::string& title) {
  if (points.empty() || (points.back().*part).empty()) return "";
  std::vector<std::string> names;
  std::vector<std::vector<double>> lines;
  for (const auto& [name, value] : points.back().*part) {
    names.push_back(name);
    lines.push_back(column(points, part, name));
  }
  const Scale scale = scale_of(lines);
  const double span = std::max<double>(1, static_cast<double>(points.size()) - 1);
  const auto x = [&](size_t i) { return kLeft + kWidth * static_cast<double>(i) / span; };
  std::string svg =
      fmt::format("<h2>{}</h2><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", convert::html_escaped(title),
                  kLeft + kWidth + 16, kHeight + kTop + kBottom, convert::html_escaped(title));
  for (int i = 0; i <= 4; ++i) {
    const double value = scale.low + (scale.high - scale.low) * i / 4;
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{:.4g}</text>",
        kLeft, kLeft + kWidth, scale.y(value), scale.y(value), kLeft - 6, scale.y(value) + 4, value);
  }
  const size_t every = std::max<size_t>(1, points.size() / 10);
  for (size_t i = 0; i < points.size(); i += every) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x(i), kHeight + kTop + 18,
                       points[i].epoch);
  }
  std::string legend = "<p>";
  for (size_t n = 0; n < names.size(); ++n) {
    const char* colour = kColours[n % std::size(kColours)];
    std::string path;
    for (size_t i = 0; i < points.size(); ++i) {
      if (!std::isfinite(lines[n][i])) continue;
      path += fmt::format("{}{:.1f},{:.1f} ", path.empty() ? "" : " ", x(i), scale.y(lines[n][i]));
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>", path, colour);
    legend += fmt::format("<span style=\"color:{}\">&#9632;</span> {} ", colour, convert::html_escaped(names[n]));
  }
  return svg + "</svg>" + legend + "</p>";
}

std::string table(const std::vector<CurvePoint>& points) {
  std::string html = "<table><tr>";
  const std::string csv = curve_csv(points);
  bool head = true;
  std::string cell;
  for (const char c : csv) {
    if (c != ',' && c != '\n') {
      cell += c;
      continue;
    }
    html += fmt::format("<t{0}>{1}</t{0}>", head ? 'h' : 'd', convert::html_escaped(cell));
    cell.clear();
    if (c != '\n') continue;
    head = false;
    html += "</tr><tr>";
  }
  return html + "</tr></table>";
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
  return fmt::format(
             "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
             "content=\"width=device-width\"><title>{0}</title><style>:root{{color-scheme:light dark}}"
             "body{{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2em auto;padding:0 1em}}"
             "svg{{width:100%;height:auto}}svg text{{font-size:11px;fill:currentColor}}"
             ".grid{{stroke:currentColor;opacity:.15}}table{{border-collapse:collapse;font-size:12px;display:block;"
             "overflow-x:auto}}td,th{{padding:2px 8px;text-align:right}}</style><h1>{0}</h1>",
             convert::html_escaped(title)) +
         chart(points, &CurvePoint::losses, "Loss by epoch") +
         chart(points, &CurvePoint::scores, "Validation scores by epoch") + table(points) + "</html>\n";
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
