// Error: the converter's one exception. It never reaches the user raw: the command line prints every
// problem on a line of its own and exits with the code.
#ifndef BANTAM_CONVERTER_BASE_ERROR_H_
#define BANTAM_CONVERTER_BASE_ERROR_H_

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

/// Gathers problems so that the user sees them all at once.
class Problems {
 public:
  void add(ExitCode code, std::string problem);
  bool empty() const { return texts_.empty(); }
  size_t size() const { return texts_.size(); }
  /// Throws an Error with everything gathered; its code is the smallest one added (I/O before invalid
  /// before unsupported). Returns when there is nothing to say.
  void raise() const;

 private:
  ExitCode code_ = ExitCode::kInternal;
  std::vector<std::string> texts_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_ERROR_H_
