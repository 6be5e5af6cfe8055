#include "pages/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "pages/page_style.h"
#include "text/utf8.h"

namespace bantam::convert {

const char* const kPageStart = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta name=\"generator\" content=\"bantam\">";

std::string html_escaped(const std::string& text) {
  std::string out;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    const auto left = static_cast<uint32_t>(std::min<size_t>(text.size() - at, 4));
    const text::CodePoint point = text::decode_utf8(bytes + at, left);
    const bool control = point.code < 0x20 || (point.code >= 0x7F && point.code < 0xA0);
    switch (point.code) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += control || point.code == 0xFFFD ? "\xEF\xBF\xBD" : text.substr(at, point.size);
    }
    at += point.size;
  }
  return out;
}

std::string html_page(const std::string& title, const std::string& body, const std::string& style) {
  const std::string shown = html_escaped(title);
  return kPageStart + ("<meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                       "<title>" +
                       shown + "</title>\n<style>" + kPageStyle + style + "</style></head><body><main>\n<h1>" + shown +
                       "</h1>\n" + body + "</main>\n<script>" + kPageScript + "</script></body></html>\n");
}

std::string html_figure(const std::function<std::string(double width)>& draw, const std::string& caption) {
  return "<figure><div class=\"wide\">" + draw(kWideFigure) + "</div><div class=\"narrow\">" + draw(kNarrowFigure) +
         "</div><figcaption>" + caption + "</figcaption></figure>\n";
}

std::string html_name(const std::string& name) {
  std::string html;
  std::string part;
  for (const char c : name) {
    part += c;
    if (c != '.' && c != '_' && c != '/' && c != ',') continue;
    html += html_escaped(part) + "<wbr>";
    part.clear();
  }
  return html + html_escaped(part);
}

HtmlCell text_cell(const std::string& text) { return {html_name(text), 0, false}; }

HtmlCell number_cell(double value, std::string shown) { return {std::move(shown), value, true}; }

std::string html_table(const std::string& label, const std::vector<std::string>& head,
                       const std::vector<std::vector<HtmlCell>>& rows) {
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table>"
      "<caption class=\"hidden\">{0}</caption><thead><tr>",
      html_escaped(label));
  for (size_t i = 0; i < head.size(); ++i) {
    const bool number = !rows.empty() && rows[0][i].number;
    html += fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"n\"" : "", head[i]);
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<HtmlCell>& row : rows) {
    html += "<tr>";
    for (const HtmlCell& cell : row) {
      html += cell.number ? fmt::format("<td class=\"n\" data-v=\"{:.9g}\">{}</td>", cell.value, cell.html)
                          : "<td>" + cell.html + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string html_bar(double share, const std::string& kind) {
  return fmt::format(
      "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect "
      "class=\"{}\" width=\"{:.2f}\" height=\"10\"/></svg>",
      kind, std::clamp(share, 0.0, 1.0) * 100);
}

std::string html_swatch(const std::string& kind) {
  return fmt::format(
      "<svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"{}\" width=\"10\" "
      "height=\"10\"/></svg>",
      kind);
}

std::string html_line_class(size_t n) {
  constexpr size_t kColours = 6;  // k0 to k5
  return fmt::format("k{}{}", n % kColours, n / kColours % 2 == 1 ? " dashed" : "");
}

std::string html_line(size_t n) {
  return fmt::format(
      "<svg class=\"swatch stroke\" viewBox=\"0 0 20 10\" aria-hidden=\"true\"><polyline class=\"{}\" "
      "points=\"0,5 20,5\"/></svg>",
      html_line_class(n));
}

}  // namespace bantam::convert
