// The output directory of a training run, until there is something in it.
#ifndef BANTAM_CONVERTER_TRAIN_OUTPUT_DIRECTORY_H_
#define BANTAM_CONVERTER_TRAIN_OUTPUT_DIRECTORY_H_

#include <filesystem>
#include <vector>

#include "train/distill.h"

namespace bantam::train {

/// Makes the directory of --output and those above it. A run that fails before it has written a checkpoint leaves nothing: what
/// was made goes again, a student of a recipe included. Directories that were there stay.
class DistillOutput {
 public:
  explicit DistillOutput(const DistillOptions& options);
  ~DistillOutput();
  DistillOutput(const DistillOutput&) = delete;
  DistillOutput& operator=(const DistillOutput&) = delete;

  /// The directory: made, or one that a run of ours was stopped in. `options` as given to the constructor, but for a student that
  /// a recipe has made since. Throws convert::Error when it is an input, holds something else, or cannot be made. May be called again.
  void prepare(const DistillOptions& options);
  /// Where a student made by a recipe lies in it.
  const std::filesystem::path& student() const { return student_; }
  /// The run has come to its end: everything stays.
  void keep() { kept_ = true; }

 private:
  std::filesystem::path output_;
  std::filesystem::path student_;
  std::vector<std::filesystem::path> made_;  // the deepest last
  bool student_was_there_;
  bool kept_ = false;
};

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_OUTPUT_DIRECTORY_H_
