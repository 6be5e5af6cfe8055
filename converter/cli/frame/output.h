// Standard output of the command line: every write is checked, JSON is one object a line, colours and bars
// appear on a terminal only.
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

/// Prints a name, and from column `indent` on a text in lines of at most 80 columns.
void print_entry(const std::string& name, size_t indent, const std::string& text);

/// Prints a table: the first row is the header; columns whose cells are all numbers are right-aligned.
void print_table(const std::vector<std::vector<std::string>>& rows);

/// How a column shows its values to people.
using Form = std::function<std::string(const Json& value)>;
/// Texts as they are, integers, three digits of other numbers, lists of texts with commas.
std::string plain_form(const Json& value);
/// A size in readable units; null is blank.
std::string bytes_form(const Json& value);
/// Numbers times `scale`, with so many digits behind the point; null is blank.
Form fixed(int digits, double scale = 1);
/// Zero is blank.
Form not_zero(Form form);

/// A column of a table of objects: their key, the heading, which is the key in most tables, and the form of the values.
struct Column {
  Column(const char* name) : key(name), heading(name) {}  // NOLINT(google-explicit-constructor)
  Column(const char* name, std::string shown, Form as = plain_form)
      : key(name), heading(std::move(shown)), form(std::move(as)) {}

  std::string key, heading;
  Form form = plain_form;
};

/// Prints a list of objects of JSON as a table.
void print_table(const Json& list, const std::vector<Column>& columns);
/// The same as comma-separated values.
void print_csv(const Json& list, const std::vector<Column>& columns);

/// Prints what a command did: the record with --json, else `text` for people, which --quiet leaves out.
void print_result(bool json, const Json& record, const std::string& text);

/// "1 thread", "2 threads".
std::string counted(size_t count, const char* what);

/// A line on standard error that is no error.
void warn(const std::string& message);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_OUTPUT_H_
