#include "cli/frame/output.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/output_file.h"
#include "cli/frame/appearance.h"
#include "cli/frame/errors.h"
#include "cli/frame/help.h"

namespace bantam::cli {
namespace {

constexpr size_t kFlushAt = size_t{1} << 16;

bool looks_like_number(std::string_view cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) != 0 || cell[0] == '-' || cell[0] == '+');
}

/// Returns the terminal columns of UTF-8 text, counted in code points, which is right for labels and numbers.
size_t display_width(std::string_view text) {
  size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
  return width;
}

/// Returns the row of headings and then one row for each object.
std::vector<std::vector<std::string>> rows_of(const Json& list, const std::vector<Column>& columns) {
  std::vector<std::vector<std::string>> rows(1);
  for (const Column& column : columns) rows[0].push_back(column.heading);
  for (const Json& item : list) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const Column& column : columns) row.push_back(column.form(item.at(column.key)));
  }
  return rows;
}

}  // namespace

void Output::write(std::string_view text) {
  pending_ += text;
  if (pending_.size() >= kFlushAt) flush();
}

void Output::line(const Json& object) {
  pending_ += convert::one_line(object);
  write("\n");
}

void Output::flush() {
  const int descriptor = convert::standard_output_is_taken() ? STDERR_FILENO : STDOUT_FILENO;
  const int cause = convert::write_all(descriptor, pending_.data(), pending_.size());
  pending_.clear();
  if (cause == 0) return;
  if (cause == EPIPE) throw ClosedPipe();
  fail(convert::is_out_of_space(cause) ? ExitCode::kOutOfSpace : ExitCode::kIo,
       "standard output: {}; nothing after this point was written", std::strerror(cause));
}

Output& out() {
  static Output output;
  return output;
}

std::string bold(std::string_view text) {
  return colored() ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}
std::string dim(std::string_view text) { return colored() ? fmt::format("\x1b[2m{}\x1b[0m", text) : std::string(text); }

std::string bar_cells(double share, size_t width, bool rest) {
  const double cells = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) * static_cast<double>(width) : 0.0;
  const auto filled = static_cast<size_t>(std::lround(cells));
  const bool utf8 = utf8_terminal();
  std::string text;
  for (size_t i = 0; i < width; ++i) text += i < filled ? (utf8 ? "█" : "#") : !rest ? " " : utf8 ? "░" : ".";
  return text;
}

std::string bar(float score) {
  constexpr size_t kWidest = 24;
  if (!colored()) return "";
  const size_t width = std::min(terminal_width(STDOUT_FILENO) / 4, kWidest);
  return "  \x1b[36m" + bar_cells(static_cast<double>(score), width, false) + "\x1b[0m";
}

void print_entry(const std::string& name, size_t indent, const std::string& text) {
  constexpr size_t kColumns = 80;
  out().print("{:<{}} {}\n", name, indent - 1, wrap(text, kColumns, indent, std::max(indent, name.size() + 1)));
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return;
  const size_t columns = rows[0].size();
  std::vector<size_t> width(columns, 0);
  std::vector<bool> right(columns, rows.size() > 1);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < columns; ++c) {
      width[c] = std::max(width[c], display_width(rows[r][c]));
      if (r > 0 && !rows[r][c].empty() && !looks_like_number(rows[r][c])) right[c] = false;
    }
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < columns; ++c) {
      const std::string pad(width[c] - display_width(rows[r][c]), ' ');
      if (c > 0) line += "  ";
      line += right[c] ? pad + rows[r][c] : rows[r][c] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out().write((r == 0 ? bold(line) : line) + "\n");
  }
}

std::string plain_form(const Json& value) {
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_number_float()) return fmt::format("{:.3g}", value.get<float>());
  if (value.is_number()) return value.dump();
  std::string joined;
  for (const Json& item : value) joined += (joined.empty() ? "" : ", ") + printable(item.get<std::string>());
  return joined;
}

std::string bytes_form(const Json& value) { return value.is_null() ? "" : readable_bytes(value.get<uint64_t>()); }

Form fixed(int digits, double scale) {
  return [digits, scale](const Json& value) {
    return value.is_null() ? "" : fmt::format("{:.{}f}", value.get<double>() * scale, digits);
  };
}

Form not_zero(Form form) {
  return [form = std::move(form)](const Json& value) { return value == 0 ? "" : form(value); };
}

void print_table(const Json& list, const std::vector<Column>& columns) { print_table(rows_of(list, columns)); }

void print_csv(const Json& list, const std::vector<Column>& columns) {
  for (const std::vector<std::string>& row : rows_of(list, columns)) out().print("{}\n", fmt::join(row, ","));
}

void print_result(bool json, const Json& record, const std::string& text) {
  if (json) out().line(record);
  if (!json && !quiet()) out().write(text);
  out().flush();
}

std::string counted(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void warn(const std::string& message) { std::fprintf(stderr, "bantam: %s\n", printable(message).c_str()); }

}  // namespace bantam::cli
