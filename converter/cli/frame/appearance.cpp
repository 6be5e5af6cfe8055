#include "cli/frame/appearance.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "cli/frame/command.h"

namespace bantam::cli {
namespace {

/// Returns the variable's value; empty if it is not set.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool moves_cursor(int descriptor) { return isatty(descriptor) == 1 && variable("TERM") != "dumb"; }

}  // namespace

Appearance& appearance() {
  static Appearance chosen;
  return chosen;
}

void add_appearance_options(Command& command) {
  command
      .add_option(
          "--color", appearance().color, "WHEN",
          "Use colours and bars: auto (default: on a terminal; respects NO_COLOR and CLICOLOR_FORCE), always or never",
          choices<Color>({{"auto", Color::kAuto}, {"always", Color::kAlways}, {"never", Color::kNever}}))
      .group("Common options");
  command.add_flag("-q,--quiet", appearance().quiet, "Print only results and errors, no progress or reports")
      .group("Common options");
}

bool colored() {
  if (appearance().color != Color::kAuto) return appearance().color == Color::kAlways;
  if (!variable("NO_COLOR").empty()) return false;
  const std::string_view force = variable("CLICOLOR_FORCE");
  if (!force.empty()) return force != "0";
  return variable("CLICOLOR") != "0" && moves_cursor(STDOUT_FILENO);
}

bool shows_progress() { return !quiet() && moves_cursor(STDERR_FILENO); }

void show_prompt(const char* text) {
  if (!quiet() && isatty(STDERR_FILENO) == 1) std::fputs(text, stderr);
}

bool utf8_terminal() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(variable(name));
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

size_t terminal_width(int descriptor) {
  constexpr size_t kUsual = 80;
  constexpr size_t kLeast = 20;
  const std::string columns(variable("COLUMNS"));
  size_t width = std::strtoul(columns.c_str(), nullptr, 10);
  winsize size = {};
  if (width == 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return std::max(width == 0 ? kUsual : width, kLeast);
}

}  // namespace bantam::cli
