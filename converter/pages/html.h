// Shared parts of the pages that commands write: escaping, one style, and figures that fit narrow and wide screens.
#ifndef BANTAM_CONVERTER_PAGES_HTML_H_
#define BANTAM_CONVERTER_PAGES_HTML_H_

#include <functional>
#include <string>
#include <vector>

namespace bantam::convert {

/// Escapes `text` for HTML, between tags and inside quoted attributes; control characters and invalid UTF-8 become
/// U+FFFD.
std::string html_escaped(const std::string& text);

/// Escapes names and allows line breaks after dots and underscores.
std::string html_name(const std::string& name);

/// Returns a whole page around `body`, light or dark as the reader's system is, readable without scripts and in print.
/// It loads no other file; `style` and `script` are inserted unchanged. `title` is plain text.
std::string html_page(const std::string& title, const std::string& body, const std::string& style = "");

/// The beginning of every page of html_page, which identifies our files.
extern const char* const kPageStart;

/// A drawing in two versions, for wide and for narrow screens, of which the page shows one. `draw` returns an SVG
/// element of the given width in pixels. `caption` is HTML.
std::string html_figure(const std::function<std::string(double width)>& draw, const std::string& caption);
constexpr double kWideFigure = 960, kNarrowFigure = 328;

/// A cell of a table: its HTML and its sort key.
struct HtmlCell {
  std::string html;
  double value = 0;
  bool number = true;  // right-aligned and sorted by value; otherwise sorted by its text
};
HtmlCell text_cell(const std::string& text);
HtmlCell number_cell(double value, std::string shown);

/// A table that scrolls horizontally if it is wider than the page; readers can sort it by its columns. `head` is HTML.
std::string html_table(const std::string& label, const std::vector<std::string>& head,
                       const std::vector<std::vector<HtmlCell>>& rows);

/// A bar that fills the fraction `share`, in [0, 1], of a cell's width; `kind`: a color class such as "c0".
std::string html_bar(double share, const std::string& kind);

/// A square of that color, for legends.
std::string html_swatch(const std::string& kind);

/// Returns the class of the chart line with number `n`, and a piece of that line for legends: six colors, then the same
/// colors dashed.
std::string html_line_class(size_t n);
std::string html_line(size_t n);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_HTML_H_
