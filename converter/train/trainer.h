// train: the whole run, from encoded examples to a directory that transformers loads.
#ifndef BANTAM_CONVERTER_TRAIN_TRAINER_H_
#define BANTAM_CONVERTER_TRAIN_TRAINER_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "source/write_back.h"
#include "train/curve.h"
#include "train/examples.h"
#include "train/settings.h"

namespace bantam::train {

/// The scores of a model. `primary` decides which weights are kept; greater is better.
struct Scores {
  double primary = 0;
  Named all;
};

struct Progress {
  const char* what = "";
  uint64_t done = 0, of = 0;
  double loss = 0;          // mean over the epoch so far
  double seconds_left = 0;  // estimated time for the current work
};

struct Job {
  Settings settings;
  const convert::Graph* student = nullptr;
  const convert::Graph* teacher = nullptr;  // null: labels only
  Heads heads;                              // the student's
  /// The teacher's outputs and, for each label and tag of the student, its number in the teacher.
  Heads teacher_heads;
  std::vector<uint32_t> teacher_labels, teacher_tags;
  std::vector<Example> examples, validation;
  /// The mapping from the student's constants to the tensors of its directory.
  convert::WaysBack ways;
  /// Scores the network's logits for the validation examples; models that generate are scored by their loss
  /// (next_words.h).
  std::function<Scores(const std::vector<Logits>&)> score;
  std::function<void(const Progress&)> progress;
  std::function<void(const CurvePoint&)> on_epoch;

  std::filesystem::path student_directory;
  std::filesystem::path output;  // must exist; holds the result, and the checkpoint until then
  std::string dtype = "F32";     // type of the written weights: F32, F16 or "" (as in the student)
  std::string title;             // title of the curve's page
  /// Everything that affects the result; a checkpoint with another fingerprint is not resumed.
  std::string fingerprint;
  double save_every = 60;   // seconds between checkpoints; there is also one after each epoch
  uint64_t stop_after = 0;  // total number of steps after which to stop with a checkpoint; 0: none
};

struct Outcome {
  uint64_t steps = 0;
  uint64_t resumed_from = 0;  // number of steps in the checkpoint
  bool complete = false;      // false: stopped by stop_after
  uint32_t epochs = 0;        // finished epochs
  uint32_t best_epoch = 0;    // epoch whose weights were written
  Scores best;
  std::vector<CurvePoint> curve;
  double seconds = 0;  // spent by this process
};

/// The name of the checkpoint in the output directory.
constexpr const char* kCheckpointName = "checkpoint.safetensors";

/// Trains, starting from the checkpoint in `job.output` if there is one. Throws Error.
Outcome train(const Job& job);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_TRAINER_H_
