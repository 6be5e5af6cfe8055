// The output directory of a training run, until it contains something.
#ifndef BANTAM_CONVERTER_TRAIN_OUTPUT_DIRECTORY_H_
#define BANTAM_CONVERTER_TRAIN_OUTPUT_DIRECTORY_H_

#include <filesystem>
#include <vector>

#include "train/distill.h"

namespace bantam::train {

/// Creates the directory of --output and its parents. If a run fails before its first checkpoint, everything that was
/// created is removed, including a recipe's student. Directories that existed before stay.
class DistillOutput {
 public:
  explicit DistillOutput(const DistillOptions& options);
  ~DistillOutput();
  DistillOutput(const DistillOutput&) = delete;
  DistillOutput& operator=(const DistillOutput&) = delete;

  /// Creates the directory, or accepts one in which an earlier run of ours was stopped. `options` must be those of the
  /// constructor, except for a student that a recipe has made since. Throws convert::Error if the directory is an
  /// input, contains something else, or cannot be created. May be called again.
  void prepare(const DistillOptions& options);
  /// Returns the path in it for a student made by a recipe.
  const std::filesystem::path& student() const { return student_; }
  /// The run has ended successfully: keep everything.
  void keep() { kept_ = true; }

 private:
  std::filesystem::path output_;
  std::filesystem::path student_;
  std::vector<std::filesystem::path> made_;  // the deepest is last
  bool student_was_there_;
  bool kept_ = false;
};

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_OUTPUT_DIRECTORY_H_
