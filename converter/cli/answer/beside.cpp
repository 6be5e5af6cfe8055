#include "cli/answer/beside.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/own_program.h"
#include "cli/frame/errors.h"

namespace bantam::cli {

namespace fs = std::filesystem;

fs::path beside(const char* name) {
  std::error_code error;
  const fs::path self = convert::own_program();
  const fs::path path = self.parent_path() / name;
  return !self.empty() && fs::exists(path, error) ? path : fs::path();
}

void start_beside(const char* name, char** argv) {
  const fs::path program = beside(name);
  if (program.empty()) return;
  execv(program.c_str(), argv);
  fail(ExitCode::kInternal, "{}: {}", program.string(), std::strerror(errno));
}

}  // namespace bantam::cli
