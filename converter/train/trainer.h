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

/// The scores of a model. `primary` chooses the weights that are kept; greater is better.
struct Scores {
  double primary = 0;
  Named all;
};

struct Progress {
  const char* what = "";
  uint64_t done = 0, of = 0;
  double loss = 0;          // mean of the epoch so far
  double seconds_left = 0;  // of what is being done, estimated
};

struct Job {
  Settings settings;
  const convert::Graph* student = nullptr;
  const convert::Graph* teacher = nullptr;  // null: labels alone
  Heads heads;                              // of the student
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
  std::filesystem::path output;  // exists; the result goes there, and the checkpoint until it is complete
  std::string dtype = "F32";     // of the weights that are written: F32, F16 or "" (as in the student)
  std::string title;             // of the curve's page
  /// Everything that decides the result: a checkpoint with another fingerprint is not resumed.
  std::string fingerprint;
  double save_every = 60;   // seconds between checkpoints; one more after each epoch
  uint64_t stop_after = 0;  // steps of all, 0: none: stops there with a checkpoint
};

struct Outcome {
  uint64_t steps = 0;
  uint64_t resumed_from = 0;  // steps that a checkpoint had
  bool complete = false;      // false: stop_after
  uint32_t epochs = 0;        // done
  uint32_t best_epoch = 0;    // whose weights were written
  Scores best;
  std::vector<CurvePoint> curve;
  double seconds = 0;  // of this process
};

/// Name of the checkpoint in the output directory.
constexpr const char* kCheckpointName = "checkpoint.safetensors";

/// Trains, from the checkpoint in `job.output` if there is one. Throws Error.
Outcome train(const Job& job);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_TRAINER_H_
