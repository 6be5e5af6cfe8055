// A progress bar on standard error: share, what is done, time left.
#ifndef BANTAM_CONVERTER_CLI_FRAME_PROGRESS_H_
#define BANTAM_CONVERTER_CLI_FRAME_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <string>

namespace bantam::cli {

/// Draws nothing where appearance.h's shows_progress() is false. Removes what it drew; after an interrupt the shell's
/// prompt starts on a line of its own.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` in [0, 1] of a phase of the work; 0: how far it is, is not known. Redraws when what can be seen has changed.
  void show(const std::string& phase, double done);
  /// `done` of `total` things, as in "12 of 30 examples".
  void count(const std::string& things, size_t done, size_t total);
  void clear();

 private:
  void draw(const std::string& phase, const std::string& text, double done);

  bool enabled_;
  std::string phase_;
  std::chrono::steady_clock::time_point begin_;  // of the phase
  std::string line_;
};

/// "45 %  12 s left" for a share that took `seconds`; no time before a twentieth of the work and two seconds are over.
std::string progress_figures(double done, double seconds);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_PROGRESS_H_
