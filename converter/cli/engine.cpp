#include "cli/engine.h"

#include <CLI/CLI.hpp>

namespace bantam::cli {

void add_engine_options(CLI::App& command, EngineOptions* options) {
  command.add_option("--threads", options->threads, "Threads of one forward pass (default 1)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--isa", options->isa, "Instruction set, such as avx2 (default: $BANTAM_ISA, else the best)");
  command.add_option("--backend", options->backend, "native (default), or xnnpack for f32 and f16 files")
      ->check(CLI::IsMember({"native", "xnnpack"}));
  command.add_flag("--f32-attention", options->f32_attention,
                   "Attention of int8 files in f32, for comparison: slower, more memory");
}

}  // namespace bantam::cli
