// A whole training run: directories to graphs, files of data to examples, and the directory of the result.
#ifndef BANTAM_CONVERTER_TRAIN_DISTILL_H_
#define BANTAM_CONVERTER_TRAIN_DISTILL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "train/settings.h"
#include "train/trainer.h"

namespace bantam::train {

/// The files that a run reads and writes, and how it trains. Paths are those that errors name.
struct DistillOptions {
  Settings settings;
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
  double save_every = 60;
  uint64_t stop_after = 0;
};

/// The functions that a run calls while it works.
struct Watcher {
  std::function<void(const std::string& line)> warn;                  // something odd that does not end the run
  std::function<void(const char* what, double done)> making_student;  // while a recipe's student is made; done: 0 to 1
  std::function<void(const Progress&)> progress;
  std::function<void(const CurvePoint&)> on_epoch;
};

struct Distilled {
  size_t examples = 0, validation_examples = 0;
  Outcome outcome;
};

/// Reads models and data, trains (trainer.h) and writes the student's directory. A run that fails before its first
/// checkpoint leaves no directory behind that it made. Every function of `watcher` must be set. Throws Error.
Distilled distill(const DistillOptions& options, const Watcher& watcher);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_DISTILL_H_
