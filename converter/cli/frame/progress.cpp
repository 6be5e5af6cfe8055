#include "cli/frame/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/frame/appearance.h"
#include "cli/frame/output.h"
#include "cli/frame/signals.h"

namespace bantam::cli {
namespace {

std::string duration(double seconds) {
  constexpr double kMinute = 60;
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (seconds < 2 * kMinute) return fmt::format("{} s", whole);
  return fmt::format("{} min", (whole + 59) / 60);
}

}  // namespace

std::string progress_figures(double done, double seconds) {
  constexpr double kLeastSeconds = 2;
  constexpr double kLeastShare = 0.05;
  if (done <= 0) return "     ";
  std::string text = fmt::format("{:3.0f} %", std::floor(done * 100));
  if (done >= kLeastShare && done < 1 && seconds >= kLeastSeconds) {
    text += fmt::format("  {} left", duration(seconds * (1 - done) / done));
  }
  return text;
}

Progress::Progress() : enabled_(shows_progress()) {}

void Progress::show(const std::string& phase, double done, const std::string& text) {
  if (enabled_) draw(phase, text, std::isfinite(done) ? std::clamp(done, 0.0, 1.0) : 0.0);
}

void Progress::count(const std::string& things, size_t done, size_t total) {
  if (!enabled_ || total == 0) return;
  draw(things, fmt::format("{} of {} {}", done, total, things), static_cast<double>(done) / static_cast<double>(total));
}

void Progress::draw(const std::string& phase, const std::string& text, double done) {
  if (phase != phase_ || line_.empty()) {
    begin_ = std::chrono::steady_clock::now();
    begin_done_ = done;
  }
  phase_ = phase;
  const size_t width = terminal_width(STDERR_FILENO);
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const double seconds = done > begin_done_ ? elapsed * done / (done - begin_done_) : 0;  // for all that is done
  constexpr size_t kWidest = 30;
  const std::string line = fmt::format("{} {}  {}", bar_cells(done, std::min(width / 4, kWidest), true),
                                       progress_figures(done, seconds), text);
  if (line == line_) return;
  end_line_on_interrupt(true);
  line_ = line;
  std::fprintf(stderr, "\r\x1b[2K%s", line.c_str());
  std::fflush(stderr);
}

void Progress::clear() {
  if (line_.empty()) return;
  line_.clear();
  std::fputs("\r\x1b[2K", stderr);
  std::fflush(stderr);
  end_line_on_interrupt(false);
}

}  // namespace bantam::cli
