// Standard output of the command line: every write is checked, JSON is one object a line, colours and bars
// appear on a terminal only.
#ifndef BANTAM_CONVERTER_CLI_FRAME_OUTPUT_H_
#define BANTAM_CONVERTER_CLI_FRAME_OUTPUT_H_

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ordered_json.h"
#include "base/printable.h"
#include "base/readable.h"

namespace bantam::cli {

using convert::printable;
using convert::readable_bytes;

using convert::json_object;
using Json = convert::OrderedJson;

/// Appends to standard output. A failed write throws an I/O error; a closed pipe ends the command quietly.
class Output {
 public:
  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    write(fmt::format(format, std::forward<Args>(args)...));
  }
  void write(std::string_view text);
  /// One object on a line of its own. Invalid UTF-8 in strings becomes U+FFFD.
  void line(const Json& object);
  void flush();
  ~Output() = default;

 private:
  std::string pending_;
};

Output& out();

std::string bold(std::string_view text);
std::string dim(std::string_view text);
/// A bar for a score in [0, 1], as wide as the terminal allows, at most 24 cells; empty where there are no colours.
std::string bar(float score);
/// `width` cells, of which `share` are filled; the others are blank, or shaded when `rest` is set. ASCII where the
/// terminal does not take UTF-8.
std::string bar_cells(double share, size_t width, bool rest);

/// Prints a table: the first row is the header; columns whose cells are all numbers are right-aligned.
void print_table(const std::vector<std::vector<std::string>>& rows);

/// A column of a table of objects.
struct Column {
  using Form = std::string (*)(const Json& value);
  /// Texts as they are, integers, three digits of other numbers, lists of texts with commas.
  static std::string plain(const Json& value);

  Column(const char* of, const char* shown, Form as = plain) : key(of), heading(shown), form(as) {}
  Column(const char* of) : Column(of, of) {}  // most headings are keys. NOLINT(google-explicit-constructor)

  const char* key;
  const char* heading;
  Form form;  // of its values for people
};

/// Prints a list of objects of JSON as a table.
void print_table(const Json& list, const std::vector<Column>& columns);

/// A line on standard error that is no error.
void warn(const std::string& message);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_OUTPUT_H_
