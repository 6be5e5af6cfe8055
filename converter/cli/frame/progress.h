// A progress bar on standard error: the fraction done, what is being done, and the time left.
#ifndef BANTAM_CONVERTER_CLI_FRAME_PROGRESS_H_
#define BANTAM_CONVERTER_CLI_FRAME_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <string>

namespace bantam::cli {

/// Draws nothing if shows_progress() of appearance.h is false. Erases what it drew; after an interrupt, the shell's
/// prompt starts on a new line.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` in [0, 1]: the progress of a phase; 0: unknown. Redraws only if the visible text changes.
  void show(const std::string& phase, double done) { show(phase, done, phase); }
  /// Shows `text`, which may change during the phase.
  void show(const std::string& phase, double done, const std::string& text);
  /// Shows `done` of `total` things, as in "12 of 30 examples".
  void count(const std::string& things, size_t done, size_t total);
  void clear();

 private:
  void draw(const std::string& phase, const std::string& text, double done);

  bool enabled_;
  std::string phase_;
  std::chrono::steady_clock::time_point begin_;  // start of the phase
  double begin_done_ = 0;                        // what was done then: a run may continue another
  std::string line_;
};

/// Returns "45 %  12 s left" for progress that took `seconds`. The time left is omitted before a twentieth of the work
/// and two seconds have passed.
std::string progress_figures(double done, double seconds);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_PROGRESS_H_
