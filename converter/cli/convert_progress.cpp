#include "cli/convert_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bantam::cli {

Progress::Progress() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  enabled_ = isatty(STDERR_FILENO) == 1 && (no_color == nullptr || no_color[0] == '\0') &&
             (term == nullptr || std::strcmp(term, "dumb") != 0);
}

void Progress::show(const char* what, double done) {
  if (!enabled_) return;
  constexpr int kCells = 30;
  const int filled = static_cast<int>(std::clamp(done, 0.0, 1.0) * kCells);
  std::string bar;
  for (int i = 0; i < kCells; ++i) bar += i < filled ? "█" : "░";
  const std::string line = fmt::format("{} {}", bar, what);
  if (line == line_) return;
  line_ = line;
  std::fprintf(stderr, "\r\x1b[2K%s", line.c_str());
  std::fflush(stderr);
}

void Progress::clear() {
  if (line_.empty()) return;
  line_.clear();
  std::fputs("\r\x1b[2K", stderr);
  std::fflush(stderr);
}

}  // namespace bantam::cli
