// Standard output of the command line. Every write is checked, JSON is written as one object per line, and colors and
// bars appear only on a terminal.
#ifndef BANTAM_CONVERTER_CLI_FRAME_OUTPUT_H_
#define BANTAM_CONVERTER_CLI_FRAME_OUTPUT_H_

#include <fmt/format.h>

#include <functional>
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
  /// Writes one object on its own line. Invalid UTF-8 in strings becomes U+FFFD.
  void line(const Json& object);
  void flush();
  ~Output() = default;

 private:
  std::string pending_;
};

Output& out();

std::string bold(std::string_view text);
std::string dim(std::string_view text);
/// Returns a bar for a score in [0, 1], as wide as the terminal allows, at most 24 cells; empty without colors.
std::string bar(float score);
/// Returns `width` cells, of which the fraction `share` is filled; the others are blank or, with `rest`, shaded. Uses
/// ASCII if the terminal does not support UTF-8.
std::string bar_cells(double share, size_t width, bool rest);

/// Prints a name and, from column `indent` on, a text that is wrapped at 80 columns.
void print_entry(const std::string& name, size_t indent, const std::string& text);

/// Prints a table. The first row is the header; columns whose cells are all numbers are right-aligned.
void print_table(const std::vector<std::vector<std::string>>& rows);

/// Formats the values of a column for people.
using Form = std::function<std::string(const Json& value)>;
/// Prints texts as they are, integers, other numbers with three digits, and lists of texts with commas.
std::string plain_form(const Json& value);
/// Prints a size in readable units; null is blank.
std::string bytes_form(const Json& value);
/// Prints numbers times `scale` with `digits` decimals; null is blank.
Form fixed(int digits, double scale = 1);
/// Like `form`, but zero is blank.
Form not_zero(Form form);

/// A column of a table of JSON objects: the key in the objects, the heading (usually the key) and the format of the
/// values.
struct Column {
  Column(const char* name) : key(name), heading(name) {}  // NOLINT(google-explicit-constructor)
  Column(const char* name, std::string shown, Form as = plain_form)
      : key(name), heading(std::move(shown)), form(std::move(as)) {}

  std::string key, heading;
  Form form = plain_form;
};

/// Prints a JSON list of objects as a table.
void print_table(const Json& list, const std::vector<Column>& columns);
/// Prints a JSON list of objects as comma-separated values.
void print_csv(const Json& list, const std::vector<Column>& columns);

/// Prints the result of a command: the record with --json, otherwise `text` for people, which --quiet suppresses.
void print_result(bool json, const Json& record, const std::string& text);

/// "1 thread", "2 threads".
std::string counted(size_t count, const char* what);

/// Prints a line on standard error that is not an error.
void warn(const std::string& message);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_OUTPUT_H_
