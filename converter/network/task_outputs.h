// The outputs of a model and its task table: names as in transformers, label sets, tokens that end a text. Importers of
// directories and of ONNX graphs pass the tensors that their heads compute.
#ifndef BANTAM_CONVERTER_NETWORK_TASK_OUTPUTS_H_
#define BANTAM_CONVERTER_NETWORK_TASK_OUTPUTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "network/import_options.h"
#include "source/fields.h"
#include "source/label_sets.h"
#include "source/sentence_transformers.h"
#include "tokenizer/tokenizer.h"

namespace bantam::convert {

class TaskOutputs {
 public:
  /// `fields`: config.json. References outlive the object.
  TaskOutputs(fb::TaskKind kind, Builder& builder, const Fields& fields, const ImportOptions& options);

  fb::TaskT& task() { return *task_; }
  /// Stores the task in the graph; nothing else may be called after it.
  void finish(Graph& graph) { graph.model.task = std::move(task_); }

  /// One label set: scores of labels of a text, or of tags of tokens (role `tags`, whose scheme follows from the labels
  /// or from --tag-scheme).
  void labels(const std::string& output, fb::OutputRole role, int32_t scores, NamedLabels set);

  /// Scores of several label sets, concatenated by columns. The first output is "logits", others are NAME_logits.
  void label_sets(fb::OutputRole role, int32_t scores, std::vector<NamedLabels> sets);

  /// The scores of the beginning and of the end of an answer.
  void answer(int32_t begin, int32_t end);

  /// Scores of the vocabulary for each token.
  void words(const std::string& output, int32_t scores);

  /// Scores of the next token, tokens that end a text, and generation settings. `starts` and `start_otherwise`: as in
  /// read_generations().
  void next_words(int32_t scores, uint32_t vocabulary, bool starts, const char* start_otherwise);

  /// One score for each candidate.
  void choice(int32_t scores);

  /// Two scores: the second text follows the first, or does not.
  void next_sentence(const std::string& output, int32_t scores);

  /// One vector for each text, and the prompt before it.
  void vector(int32_t x, const SentencePooling& pooling);

  /// One vector for each token.
  void token_vectors(int32_t x);

  /// Weights of terms, computed from vocabulary scores `scores` of a linear layer, whose scores are not an output then.
  void terms(int32_t scores, const SentencePooling& pooling, Problems& problems);

 private:
  Builder& builder_;
  const Fields& fields_;
  const ImportOptions& options_;
  std::unique_ptr<fb::TaskT> task_;
};

/// Adds the parts of a task that need the tokenizer: the chat template of generators, prefixes and fillers of token
/// vectors, tokens that begin words, how tags become entities; and the limit of scores. Call it when the graph has the
/// tokenizer and the outputs.
void finish_task(Graph& graph, const ModelSource& source, const Fields& fields, const ImportOptions& options,
                 Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_TASK_OUTPUTS_H_
