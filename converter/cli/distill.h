// Options of `bantam distill`. `bantam` itself does not link torch, whose loading would take a quarter of a second for
// every command. It checks the options and passes the command line to `bantam-train` in the same folder.
#ifndef BANTAM_CONVERTER_CLI_DISTILL_H_
#define BANTAM_CONVERTER_CLI_DISTILL_H_

#include <cstdint>
#include <functional>

#include "train/distill.h"

namespace bantam::cli {

struct Program;

using RunDistill = std::function<void(const train::DistillOptions& options, bool json)>;

/// Adds the command; `run` receives checked options.
void add_distill(Program& program, const RunDistill& run);

/// Replaces this process by bantam-train with the same arguments (`argv` as main received it) and `threads` threads. If
/// bantam-train is missing, throws Error (unsupported) with the way to get it.
[[noreturn]] void run_trainer(char** argv, uint32_t threads);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_DISTILL_H_
