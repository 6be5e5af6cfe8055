// Describes this build, for `version` and `bench`.
#ifndef BANTAM_CONVERTER_CLI_FRAME_BUILD_INFO_H_
#define BANTAM_CONVERTER_CLI_FRAME_BUILD_INFO_H_

#include "bantam/session.h"

namespace bantam::cli {

constexpr const char* kVersion = BANTAM_VERSION;
constexpr const char* kBuildType = BANTAM_BUILD_TYPE;
#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

/// All instruction sets of machines with an operating system. Those that one machine runs are in order of speed,
/// slowest first.
constexpr Isa kInstructionSets[] = {Isa::kReference,  Isa::kAvx2,    Isa::kAvxVnni,   Isa::kAvx512Vnni256,
                                    Isa::kAvx512Vnni, Isa::kAmx,     Isa::kArmv7Neon, Isa::kNeon,
                                    Isa::kNeonDot,    Isa::kNeonI8mm};

/// Returns the instruction set that Isa::kAuto chooses on this machine.
inline Isa best_isa() {
  Isa best = Isa::kReference;
  for (const Isa isa : kInstructionSets) {
    if (isa_available(isa)) best = isa;
  }
  return best;
}

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_BUILD_INFO_H_
