// A progress bar on standard error, on a terminal only.
#ifndef BANTAM_CONVERTER_CLI_CONVERT_PROGRESS_H_
#define BANTAM_CONVERTER_CLI_CONVERT_PROGRESS_H_

#include <string>

namespace bantam::cli {

/// Draws nothing when standard error is no terminal or NO_COLOR or TERM=dumb is set. Removes what it drew.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` in [0, 1]; redraws only when something that can be seen has changed.
  void show(const char* what, double done);
  void clear();

 private:
  bool enabled_ = false;
  std::string line_;
};

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_CONVERT_PROGRESS_H_
