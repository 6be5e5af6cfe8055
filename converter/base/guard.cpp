#include "base/guard.h"

#include <exception>
#include <new>

#include "base/error.h"

namespace bantam {

std::string Outcome::text() const {
  std::string lines;
  for (const std::string& problem : problems) lines += lines.empty() ? problem : "\n" + problem;
  return lines;
}

}  // namespace bantam

namespace bantam::convert {
namespace {

Outcome failure(ExitCode code, std::vector<std::string> problems) {
  return {static_cast<int>(code), std::move(problems)};
}

}  // namespace

Outcome guarded(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return failure(error.code(), error.problems());
  } catch (const std::bad_alloc&) {
    return failure(ExitCode::kOutOfSpace, {"not enough memory; close other programs, or use a larger machine"});
  } catch (const std::exception& error) {
    return failure(ExitCode::kInternal, {std::string("internal error: ") + error.what()});
  } catch (...) {
    return failure(ExitCode::kInternal, {"internal error: an exception that is no std::exception"});
  }
}

}  // namespace bantam::convert
