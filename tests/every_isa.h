// The named instruction sets, which tests iterate over.
#ifndef BANTAM_TESTS_EVERY_ISA_H_
#define BANTAM_TESTS_EVERY_ISA_H_

#include <cstring>
#include <vector>

#include "bantam/session.h"

namespace bantam::testing {

/// Returns the reference first. Those that one machine runs are in order of speed, slowest first.
inline std::vector<Isa> every_isa() {
  std::vector<Isa> all;
  for (int i = 1; i < 256; ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (std::strcmp(isa_name(isa), "auto") != 0) all.push_back(isa);
  }
  return all;
}

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_EVERY_ISA_H_
