// Options of `bantam distill`. `bantam` itself does not link torch (it would take a quarter of a second to load for every
// command): it checks the options and hands the command line to `bantam-train`, which lies beside it.
#ifndef BANTAM_CONVERTER_CLI_DISTILL_H_
#define BANTAM_CONVERTER_CLI_DISTILL_H_

#include <cstdint>
#include <functional>

#include "train/distill.h"

namespace bantam::cli {

struct Program;

using RunDistill = std::function<void(const train::DistillOptions& options, bool json)>;

/// Adds the command; `run` gets checked options.
void add_distill(Program& program, const RunDistill& run);

/// Replaces this process by bantam-train with the same arguments (`argv` as main got it) and `threads` threads. Throws Error (unsupported) that
/// says how to get it where there is none.
[[noreturn]] void run_trainer(char** argv, uint32_t threads);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_DISTILL_H_
