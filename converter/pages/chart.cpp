#include "pages/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "pages/html.h"
#include "text/utf8.h"

namespace bantam::convert {
namespace {

constexpr double kFont = 12;

text::CodePoint point_at(const std::string& text, size_t at) {
  const auto left = static_cast<uint32_t>(std::min<size_t>(text.size() - at, 4));
  return text::decode_utf8(reinterpret_cast<const uint8_t*>(text.data()) + at, left);
}

/// Returns the advance width of a code point in DejaVu Sans, the widest of the usual fonts, in ems.
double advance(uint32_t code) {
  if (code >= 0x7F) return code == 0x2026 || code == 0xB7 || code < 0x250 ? 1.0 : 1.3;
  const char c = static_cast<char>(code);
  if (std::strchr("mwMW@%", c) != nullptr && c != 0) return 1.0;
  if (std::strchr("ijl.,:;'|!I", c) != nullptr && c != 0) return 0.4;
  if (std::strchr("frt()[]{} -", c) != nullptr && c != 0) return 0.45;
  return c >= 'A' && c <= 'Z' ? 0.79 : 0.66;
}

}  // namespace

double text_width(const std::string& text, double font) {
  double width = 0;
  for (size_t at = 0; at < text.size();) {
    const text::CodePoint point = point_at(text, at);
    width += advance(point.code);
    at += point.size;
  }
  return width * font;
}

std::string fit_text(const std::string& text, double width, double font) {
  if (text_width(text, font) <= width) return text;
  double used = font;  // the ellipsis
  size_t at = 0, count = 0;
  while (at < text.size()) {
    const text::CodePoint point = point_at(text, at);
    used += advance(point.code) * font;
    if (used > width) break;
    at += point.size;
    ++count;
  }
  return count < 3 ? "" : text.substr(0, at) + "\xE2\x80\xA6";
}

std::string ChartAxis::label(double tick) const { return fmt::format("{:.{}f}", tick, decimals); }

ChartAxis make_axis(double low, double high, int ticks) {
  if (!(low < high)) {
    const double margin = low == 0 ? 1 : std::fabs(low) * 0.05;
    low -= margin;
    high += margin;
  }
  const double raw = (high - low) / std::max(ticks, 1);
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = power * 10;
  for (const double round : {1.0, 2.0, 5.0}) {
    if (round * power >= raw * 0.999) {
      step = round * power;
      break;
    }
  }
  ChartAxis axis{low, high, {}, std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)))};
  for (double number = std::ceil(low / step - 1e-9); number * step <= high + step * 1e-9; ++number)
    axis.ticks.push_back(number == 0 ? 0 : number * step);
  return axis;
}

ChartFrame::ChartFrame(double width, double height, ChartAxis x, ChartAxis y, std::string x_title, std::string y_title)
    : width_(width),
      height_(height),
      x_(std::move(x)),
      y_(std::move(y)),
      x_title_(std::move(x_title)),
      y_title_(std::move(y_title)) {
  double widest = 0;
  for (const double tick : y_.ticks) widest = std::max(widest, text_width(y_.label(tick), kFont));
  left_ = widest + 10;
  right_ = width - 12;
  top_ = 28;
  bottom_ = height - 44;
}

double ChartFrame::x(double value) const { return left_ + (value - x_.low) / (x_.high - x_.low) * (right_ - left_); }
double ChartFrame::y(double value) const { return bottom_ - (value - y_.low) / (y_.high - y_.low) * (bottom_ - top_); }

std::string ChartFrame::svg(const std::string& label, const std::string& content) const {
  std::string svg = fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", width_,
                                height_, html_escaped(label));
  for (const double tick : y_.ticks) {
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text class=\"soft\" "
        "text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        left_, right_, y(tick), y(tick), left_ - 6, y(tick) + 4, y_.label(tick));
  }
  double free = -1e9;  // numbers on the x axis do not touch
  for (const double tick : x_.ticks) {
    const double half = text_width(x_.label(tick), kFont) / 2;
    if (x(tick) - half < free || x(tick) + half > width_) continue;
    free = x(tick) + half + 6;
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text class=\"soft\" "
        "text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        x(tick), x(tick), bottom_, bottom_ + 4, x(tick), bottom_ + 18, x_.label(tick));
  }
  svg += fmt::format("<text x=\"0\" y=\"12\">{}</text><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                     html_escaped(fit_text(y_title_, width_, kFont)), right_, height_ - 6,
                     html_escaped(fit_text(x_title_, right_, kFont)));
  return svg + content + "</svg>";
}

}  // namespace bantam::convert
