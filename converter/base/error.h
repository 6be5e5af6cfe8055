// Error: the converter's only exception. The user never sees it raw: the command line prints each problem on its own
// line and exits with the code.
#ifndef BANTAM_CONVERTER_BASE_ERROR_H_
#define BANTAM_CONVERTER_BASE_ERROR_H_

#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace bantam::convert {

/// Exit codes of all bantam commands; the values are part of the public contract.
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

/// One or more problems. Each is one or two sentences: the file, tensor or option, the cause, the next step.
class Error : public std::exception {
 public:
  Error(ExitCode code, std::string problem) : Error(code, std::vector<std::string>{std::move(problem)}) {}
  /// `problems` must not be empty.
  Error(ExitCode code, std::vector<std::string> problems);

  ExitCode code() const noexcept { return code_; }
  /// The code as a process's exit status.
  int exit_code() const noexcept { return static_cast<int>(code_); }
  const std::vector<std::string>& problems() const noexcept { return problems_; }
  /// All problems, one per line.
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  ExitCode code_;
  std::vector<std::string> problems_;
  std::string what_;
};

/// A problem that several things may share, such as tensors of one type.
struct SharedProblem {
  std::string before;  // "FILE: ", or ""
  std::string kind;    // "tensor"
  std::string name;
  std::string detail;  // " has shape [2]": may differ among problems that share the rest
  std::string cause;   // "; the two do not belong together"
};

/// Collects problems so that the user sees all of them at once.
class Problems {
 public:
  void add(ExitCode code, std::string problem);
  /// Merges problems that differ only in name and detail into one, which shows their number and the first of them.
  void add(ExitCode code, SharedProblem problem);
  bool empty() const { return groups_.empty(); }
  /// The number of problems after merging.
  size_t size() const { return groups_.size(); }
  /// Throws an Error with all collected problems and the smallest of their codes (I/O before invalid before
  /// unsupported). Returns if there are none.
  void raise() const;

 private:
  struct Group {
    SharedProblem first;  // a problem that is not shared has its whole text in `before`
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
