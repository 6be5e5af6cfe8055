// Data of `distill`: converts lines to encoded examples, and the network's logits to the scores of `eval`.
#ifndef BANTAM_CONVERTER_TRAIN_LABELLED_EXAMPLES_H_
#define BANTAM_CONVERTER_TRAIN_LABELLED_EXAMPLES_H_

#include <memory>
#include <string>
#include <vector>

#include "format/file.h"
#include "graph/graph.h"
#include "score/eval_run.h"
#include "train/distill.h"
#include "train/examples.h"
#include "train/trainer.h"

namespace bantam::train {

/// A graph packed in memory, for its labels and its tokenizer, or for its preprocessing of images and sounds.
class PackedModel {
 public:
  /// `directory` is its name in errors.
  PackedModel(const convert::Graph& graph, const std::string& directory, uint32_t max_tokens);

  const Model& model() const { return model_; }
  Encoded encode(const convert::Example& example) const;

 private:
  convert::FileBytes bytes_;
  Model model_;
  Tokenizer tokenizer_;
  uint32_t max_tokens_ = 0;
};

class DistillData {
 public:
  /// Reads both files. `teacher` may be null. Throws Error that lists what does not fit the student.
  DistillData(const convert::Graph& student, const convert::Graph* teacher, const DistillOptions& options);

  std::vector<Example> training() const;
  std::vector<Example> validation() const;

  /// Returns the scores of the validation examples, with the names of `bantam eval`.
  Scores score(const std::vector<Logits>& logits) const;

 private:
  convert::Dataset read(const std::string& path, size_t limit) const;
  void exchange_slots(convert::Dataset* data) const;
  void vary_texts(convert::Dataset* data) const;
  void add_texts(convert::Dataset* data) const;
  Example example(const convert::Example& line) const;
  std::vector<Example> examples(const convert::Dataset& data) const;

  const DistillOptions& options_;
  PackedModel student_;
  std::unique_ptr<PackedModel> teacher_;
  TaskTraits task_ = {};
  convert::Dataset train_, valid_;
  mutable std::vector<Example> encoded_validation_;
};

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_LABELLED_EXAMPLES_H_
