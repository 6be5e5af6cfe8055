#include "base/error.h"

namespace bantam::convert {

Error::Error(ExitCode code, std::vector<std::string> problems) : code_(code), problems_(std::move(problems)) {
  for (const std::string& problem : problems_) {
    if (!what_.empty()) what_ += '\n';
    what_ += problem;
  }
}

void Problems::add(ExitCode code, std::string problem) {
  if (static_cast<int>(code) < static_cast<int>(code_)) code_ = code;
  texts_.push_back(std::move(problem));
}

void Problems::raise() const {
  if (!texts_.empty()) throw Error(code_, texts_);
}

}  // namespace bantam::convert
