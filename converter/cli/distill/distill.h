// Options of `bantam distill`. `bantam` itself does not link torch (it would take a quarter of a second to load for every
// command): it checks the options and hands the command line to `bantam-train`, which lies beside it.
#ifndef BANTAM_CONVERTER_CLI_DISTILL_H_
#define BANTAM_CONVERTER_CLI_DISTILL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "train/settings.h"

namespace bantam::cli {

struct Program;

struct DistillOptions {
  train::Settings settings;
  std::string teacher;  // empty: labels alone
  std::string student;
  std::string data;
  std::string validation;  // empty: none
  std::string output;
  std::string dtype = "F32";
  std::string task;
  uint32_t max_tokens = 0;  // 0: what the student takes
  uint32_t augment = 0;     // copies
  std::optional<double> augment_rate;
  std::string texts;  // without labels; empty: none
  size_t limit = 0;
  bool skip_bad = false;
  bool json = false;
  double save_every = 60;
  uint64_t stop_after = 0;
};

/// Adds the command; `run` gets checked options.
void add_distill(Program& program, const std::function<void(const DistillOptions&)>& run);

/// Replaces this process by bantam-train with the same arguments (`argv` as main got it) and `threads` threads. Throws Error (unsupported) that
/// says how to get it where there is none.
[[noreturn]] void run_trainer(char** argv, uint32_t threads);

/// The work, in bantam-train.
void run_distill(const DistillOptions& options);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_DISTILL_H_
