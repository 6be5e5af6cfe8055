#include "report/sensitivity_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "quantize/types.h"
#include "report/html.h"
#include "report/report.h"

namespace bantam::convert {
namespace {

constexpr const char* kColours[] = {"#3b76af", "#d1682b", "#4f9d5d", "#8a5aa8"};
constexpr double kLeft = 330, kPlot = 600, kBar = 11;

/// Decades that the bars cover.
struct Scale {
  double low = -6, high = 0;
  double x(double value) const {
    const double at = value > 0 ? std::clamp(std::log10(value), low, high) : low;
    return (at - low) / (high - low) * kPlot;
  }
};

Scale scale_of(const Sensitivity& measured) {
  double least = 1e300, most = 0;
  for (const MatrixCosts& matrix : measured.matrices) {
    for (const TypeCost& cost : matrix.types) {
      if (cost.divergence > 0) least = std::min(least, cost.divergence);
      most = std::max(most, cost.divergence);
    }
  }
  if (most <= 0) return {};
  const double low = std::max(std::floor(std::log10(least)) - 0.2, std::floor(std::log10(most)) - 8);
  return {low, std::max(std::ceil(std::log10(most)), low + 1)};
}

std::string plot(const Sensitivity& measured, std::vector<fb::DType>* types) {
  const Scale scale = scale_of(measured);
  std::string body;
  double y = 34;
  for (const MatrixCosts& matrix : measured.matrices) {
    if (matrix.types.empty()) continue;
    const double height = kBar * static_cast<double>(matrix.types.size());
    body += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y + height / 2 + 4,
                        html_escaped(matrix.name));
    for (const TypeCost& cost : matrix.types) {
      auto place = std::find(types->begin(), types->end(), cost.type);
      if (place == types->end()) place = types->insert(types->end(), cost.type);
      const auto colour = static_cast<size_t>(place - types->begin()) % std::size(kColours);
      body += fmt::format(
          "<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{} as {}: divergence {:.3g}, "
          "{} "
          "flips, {} saved</title></rect>\n",
          kLeft, y, std::max(1.0, scale.x(cost.divergence)), kBar - 1, kColours[colour], html_escaped(matrix.name),
          type_name(cost.type), cost.divergence, cost.flips, readable_bytes(cost.saved));
      y += kBar;
    }
    y += 7;
  }
  std::string axis;
  for (double decade = std::ceil(scale.low); decade <= scale.high; ++decade) {
    const double x = kLeft + scale.x(std::pow(10, decade));
    axis += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"22\" y2=\"{1:.1f}\" stroke=\"#ddd\"/>", x, y);
    axis += fmt::format("<text x=\"{:.1f}\" y=\"16\" text-anchor=\"middle\">1e{:.0f}</text>\n", x, decade);
  }
  return fmt::format(
      "<svg role=\"img\" aria-label=\"divergence by matrix\" viewBox=\"0 0 {0} {1:.0f}\" "
      "width=\"{0}\">\n{2}{3}</svg>\n",
      kLeft + kPlot + 20, y + 10, axis, body);
}

}  // namespace

std::string sensitivity_html(const Sensitivity& measured) {
  std::vector<fb::DType> types;
  const std::string bars = plot(measured, &types);
  std::string legend, rows;
  for (size_t i = 0; i < types.size(); ++i) {
    legend += fmt::format("<span style=\"color:{}\">&#9632;</span> {} &nbsp; ", kColours[i % std::size(kColours)],
                          type_name(types[i]));
  }
  for (const MatrixCosts& matrix : measured.matrices) {
    for (const TypeCost& cost : matrix.types) {
      rows += fmt::format(
          "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.3g}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
          html_escaped(matrix.name), matrix.kind, type_name(cost.type), cost.divergence,
          measured.has_loss ? fmt::format("{:+.5f}", cost.loss) : "", cost.flips, readable_bytes(cost.saved));
    }
  }
  const std::string labels = measured.has_loss ? fmt::format(", whose labels cost f32 {:.4f} nats (accuracy {:.2f} %)",
                                                             measured.loss, 100 * measured.accuracy)
                                               : "";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sensitivity of "
      "{0}</title>\n<style>body{{font:14px "
      "system-ui,sans-serif;margin:2em;max-width:60em}}svg text{{font:11px "
      "system-ui,sans-serif}}table{{border-collapse:"
      "collapse}}td,th{{padding:2px "
      "10px;text-align:right}}td:first-child,th:first-child{{text-align:left}}tr:nth-child(even)"
      "{{background:#f4f4f4}}</style></head><body>\n<h1>Sensitivity of {0}</h1>\n<p>Each matrix alone in another type, "
      "the rest "
      "f32, on {1} texts{2}. Bars: divergence of the answers from f32's, in nats a decision, logarithmic. The f32 file "
      "has "
      "{3}.</p>\n<p>{4}</p>\n{5}<table><tr><th>matrix</th><th>kind</th><th>type</th><th>divergence</th><th>loss</"
      "th><th>flips of "
      "{6}</th><th>saved</th></tr>\n{7}</table>\n</body></html>\n",
      html_escaped(measured.model), measured.texts, labels, readable_bytes(measured.file_bytes), legend, bars,
      measured.decisions, rows);
}

}  // namespace bantam::convert
