// Outcome: what the functions of the converter's library return. They throw nothing but what the standard library throws while
// their results are copied (std::bad_alloc).
#ifndef BANTAM_OUTCOME_H_
#define BANTAM_OUTCOME_H_

#include <string>
#include <vector>

namespace bantam {

/// Nothing (code 0), or everything that is wrong at once.
struct Outcome {
  /// The exit code that the command would have: 0 success, 2 usage, 3 I/O, 4 invalid input or model, 5 unsupported, 6 quality gate,
  /// 7 out of memory or disk, 70 internal.
  int code = 0;
  /// Each says the file, tensor or option, the cause and the next step. Empty when code is 0.
  std::vector<std::string> problems;

  explicit operator bool() const { return code == 0; }
  /// The problems, one a line.
  std::string text() const;
};

}  // namespace bantam

#endif  // BANTAM_OUTCOME_H_
