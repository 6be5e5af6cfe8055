// A whole training run: imports directories as graphs, reads files of data as examples, and writes the directory of the
// result.
#ifndef BANTAM_CONVERTER_TRAIN_DISTILL_H_
#define BANTAM_CONVERTER_TRAIN_DISTILL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "train/settings.h"
#include "train/trainer.h"

namespace bantam::train {

/// The files that a run reads and writes, and how it trains. Errors name the paths as given.
struct DistillOptions {
  Settings settings;
  std::string teacher;  // empty: labels only
  std::string student;
  std::string data;
  std::string validation;  // empty: none
  std::string output;
  std::string dtype = "F32";
  std::string task;
  uint32_t max_tokens = 0;  // 0: the student's limit
  uint32_t augment = 0;     // number of copies
  std::optional<double> augment_rate;
  std::string texts;  // a file of texts without labels; empty: none
  size_t limit = 0;
  bool skip_bad = false;
  double save_every = 60;
  uint64_t stop_after = 0;
};

/// Functions that a run calls while it works.
struct Watcher {
  std::function<void(const std::string& line)> warn;  // something unusual that does not end the run
  // While a recipe's student is made; `done`: 0 to 1.
  std::function<void(const char* what, double done)> making_student;
  std::function<void(const Progress&)> progress;
  std::function<void(const CurvePoint&)> on_epoch;
};

struct Distilled {
  size_t examples = 0, validation_examples = 0;
  Outcome outcome;
};

/// Reads models and data, trains (trainer.h) and writes the student's directory. A run that fails before its first
/// checkpoint removes the directories that it made. Every function of `watcher` must be set. Throws Error.
Distilled distill(const DistillOptions& options, const Watcher& watcher);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_DISTILL_H_
