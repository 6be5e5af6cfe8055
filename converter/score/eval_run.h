// Runs a file on labeled data and scores its answers.
#ifndef BANTAM_CONVERTER_SCORE_EVAL_RUN_H_
#define BANTAM_CONVERTER_SCORE_EVAL_RUN_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "run/decoding.h"
#include "score/eval_data.h"

namespace bantam::convert {

/// A file's answers for each example; only the members for the layout are filled.
struct Outcome {
  std::vector<std::string> labels;                    // label, intent or number of the choice
  std::vector<std::vector<std::string>> label_lists;  // multi-label: all that hold, sorted
  std::vector<float> scores;                          // cosine or regression value
  std::vector<std::vector<std::string>> tags;         // one per token of the data
  std::vector<std::string> answers;
  std::vector<std::string> texts;              // the generated texts
  std::vector<std::vector<float>> embeddings;  // two per example
  std::vector<std::vector<SetLabels>> sets;    // of label sets that the task itself does not use
  size_t truncated = 0;
  double seconds = 0;  // spent in tokenizer, forward passes and task heads
};

/// Throws if a file of this task cannot be scored on the data.
void refuse_misfit(const ModelFile& file, const Dataset& data);

/// Called before each example with `done` of `total` examples; may be empty.
using EvalProgress = std::function<void(size_t done, size_t total)>;

/// Throws as refuse_misfit does. `generate`: how texts are generated, if the data are texts. `aggregation`: for labels
/// of words; a token of the data gets the label of the first word that begins in it.
Outcome evaluate(const ModelFile& file, const EngineOptions& engine, const Dataset& data,
                 const EvalProgress& progress = {}, const GenerateOptions& generate = {},
                 Aggregation aggregation = Aggregation::kFile);

/// Names and values, in display order.
using Metrics = std::vector<std::pair<std::string, double>>;
Metrics score(const Dataset& data, const Outcome& outcome);

/// Returns how two files differ: label flips, tag flips, cosines of embeddings, largest difference of scores.
Metrics compare(const Dataset& data, const Outcome& outcome, const Outcome& against);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_EVAL_RUN_H_
