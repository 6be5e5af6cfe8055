#include "tests/session/contracted.h"

#include "session/as_written.h"

namespace bantam {

bool has_fma() {
#if defined(__FMA__)
  return __builtin_cpu_supports("fma");
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

bool computes_as_written_when_contracted() { return computes_as_written(); }

}  // namespace bantam
