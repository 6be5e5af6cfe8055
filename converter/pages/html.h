// What the pages that commands write share: escaping, one look, figures that fit narrow and wide screens.
#ifndef BANTAM_CONVERTER_PAGES_HTML_H_
#define BANTAM_CONVERTER_PAGES_HTML_H_

#include <functional>
#include <string>
#include <vector>

namespace bantam::convert {

/// `text` for HTML, between tags and inside quoted attributes; control characters and invalid UTF-8 become U+FFFD.
std::string html_escaped(const std::string& text);

/// The same for names, which may break behind dots and underscores.
std::string html_name(const std::string& name);

/// A whole page around `body`, in light or dark as the reader's system is, readable without scripts and on paper. It asks for
/// no other file; `style` and `script` go into it as they are. `title` is text.
std::string html_page(const std::string& title, const std::string& body, const std::string& style = "");

/// What every page of html_page begins with: tells a file of ours from another's.
extern const char* const kPageStart;

/// A drawing for wide and for narrow screens, of which one is shown; `draw` makes an SVG element of that width in pixels.
/// `caption` is HTML.
std::string html_figure(const std::function<std::string(double width)>& draw, const std::string& caption);
constexpr double kWideFigure = 960, kNarrowFigure = 328;

/// A cell of a table: HTML, and what it is sorted by.
struct HtmlCell {
  std::string html;
  double value = 0;
  bool number = true;  // to the right, sorted by value; else by its text
};
HtmlCell text_cell(const std::string& text);
HtmlCell number_cell(double value, std::string shown);

/// A table that scrolls sideways by itself when it is wider than the page; readers sort it by its columns. `head` is HTML.
std::string html_table(const std::string& label, const std::vector<std::string>& head,
                       const std::vector<std::vector<HtmlCell>>& rows);

/// A bar of `share` of a cell's width, in [0, 1]; `kind`: a class of colour such as "c0".
std::string html_bar(double share, const std::string& kind);

/// A square of that colour, for legends.
std::string html_swatch(const std::string& kind);

/// Class of a chart's line number `n`, and a piece of that line for legends: six colours, then the same dashed.
std::string html_line_class(size_t n);
std::string html_line(size_t n);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_HTML_H_
