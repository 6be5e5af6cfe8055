// Error: the converter's one exception. It never reaches the user raw: the command line prints every
// problem on a line of its own and exits with the code.
#ifndef BANTAM_CONVERTER_BASE_ERROR_H_
#define BANTAM_CONVERTER_BASE_ERROR_H_

#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace bantam::convert {

/// Exit codes of every bantam command; values are part of its contract.
enum class ExitCode : int {
  kOk = 0,
  kUsage = 2,
  kIo = 3,
  kInvalid = 4,  // invalid input or model
  kUnsupported = 5,
  kGate = 6,        // the quality gate failed
  kOutOfSpace = 7,  // memory or disk
  kInternal = 70,
  kInterrupted = 130
};

/// One or more problems. Each is one sentence or two: the file, tensor or option, the cause, the next step.
class Error : public std::exception {
 public:
  Error(ExitCode code, std::string problem) : Error(code, std::vector<std::string>{std::move(problem)}) {}
  /// `problems` is not empty.
  Error(ExitCode code, std::vector<std::string> problems);

  ExitCode code() const noexcept { return code_; }
  /// The code as a process's exit status.
  int exit_code() const noexcept { return static_cast<int>(code_); }
  const std::vector<std::string>& problems() const noexcept { return problems_; }
  /// All problems, one a line.
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  ExitCode code_;
  std::vector<std::string> problems_;
  std::string what_;
};

/// A problem of one of several things that may share it, such as tensors of one type.
struct SharedProblem {
  std::string before;  // "FILE: ", or nothing
  std::string kind;    // "tensor"
  std::string name;
  std::string detail;  // " has shape [2]": may differ among those that share the rest
  std::string cause;   // "; the two do not belong together"
};

/// Gathers problems so that the user sees them all at once.
class Problems {
 public:
  void add(ExitCode code, std::string problem);
  /// Those that differ in name and detail only are shown as one: how many there are, and the first of them.
  void add(ExitCode code, SharedProblem problem);
  bool empty() const { return groups_.empty(); }
  /// As they are shown.
  size_t size() const { return groups_.size(); }
  /// Throws an Error with everything gathered; its code is the smallest one added (I/O before invalid
  /// before unsupported). Returns when there is nothing to say.
  void raise() const;

 private:
  struct Group {
    SharedProblem first;  // a problem of its own: its text in `before`
    std::vector<std::string> names;
    size_t count = 1;
  };
  void note(ExitCode code);
  static std::string text(const Group& group);

  ExitCode code_ = ExitCode::kInternal;
  std::vector<Group> groups_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_ERROR_H_
