// Outcome: the result of the converter library's functions. They throw only what the standard library throws while it
// copies their results (std::bad_alloc).
#ifndef BANTAM_OUTCOME_H_
#define BANTAM_OUTCOME_H_

#include <string>
#include <vector>

namespace bantam {

/// Success (code 0), or all problems found.
struct Outcome {
  /// The exit code of the corresponding command: 0 success, 2 usage, 3 I/O, 4 invalid input or model, 5 unsupported, 6
  /// quality gate, 7 out of memory or disk space, 70 internal error.
  int code = 0;
  /// Each problem names the file, tensor or option, the cause and the next step. Empty if code is 0.
  std::vector<std::string> problems;

  explicit operator bool() const { return code == 0; }
  /// The problems, one per line.
  std::string text() const;
};

}  // namespace bantam

#endif  // BANTAM_OUTCOME_H_
