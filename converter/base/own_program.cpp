#include "base/own_program.h"

#include <sys/auxv.h>

namespace bantam::convert {

namespace fs = std::filesystem;

fs::path own_program() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error) return self;
  // Without /proc, use the path that was passed to the kernel at the start.
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (started == nullptr) return {};
  self = fs::canonical(started, error);
  return error ? fs::path() : self;
}

}  // namespace bantam::convert
