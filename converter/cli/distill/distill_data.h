// Data of `distill`: lines to encoded examples, and the network's logits to the scores that `eval` would give.
#ifndef BANTAM_CONVERTER_CLI_DISTILL_DATA_H_
#define BANTAM_CONVERTER_CLI_DISTILL_DATA_H_

#include <memory>
#include <string>
#include <vector>

#include "cli/answer/engine.h"
#include "cli/distill/distill.h"
#include "format/file.h"
#include "graph/graph.h"
#include "score/eval_run.h"
#include "train/examples.h"
#include "train/trainer.h"

namespace bantam::cli {

using convert::Dataset;
using convert::Example;

/// A graph packed in memory, for its labels and its tokenizer, or for what it makes of images and sounds.
class PackedModel {
 public:
  /// `directory` is what errors call it.
  PackedModel(const convert::Graph& graph, const std::string& directory, uint32_t max_tokens);

  const Model& model() const { return model_; }
  train::Encoded encode(const Example& example) const;

 private:
  convert::FileBytes bytes_;
  Model model_;
  Tokenizer tokenizer_;
  uint32_t max_tokens_ = 0;
};

class DistillData {
 public:
  /// Reads both files. `teacher` may be null. Throws Error listing what does not fit the student.
  DistillData(const convert::Graph& student, const convert::Graph* teacher, const DistillOptions& options);

  std::vector<train::Example> training() const;
  std::vector<train::Example> validation() const;

  /// Scores of the validation examples, by the names of `bantam eval`.
  train::Scores score(const std::vector<train::Logits>& logits) const;

 private:
  Dataset read(const std::string& path, size_t limit) const;
  void exchange_slots(Dataset* data) const;
  void vary_texts(Dataset* data) const;
  void add_texts(Dataset* data) const;
  train::Example example(const Example& line) const;
  std::vector<train::Example> examples(const Dataset& data) const;

  const DistillOptions& options_;
  PackedModel student_;
  std::unique_ptr<PackedModel> teacher_;
  TaskTraits task_ = {};
  Dataset train_, valid_;
  mutable std::vector<train::Example> encoded_validation_;
};

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_DISTILL_DATA_H_
