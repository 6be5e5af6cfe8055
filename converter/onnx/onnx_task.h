// Finds the meaning of a file's outputs for a task: scores of labels, of tags, of words, the two ends of an answer,
// vectors.
#ifndef BANTAM_CONVERTER_ONNX_ONNX_TASK_H_
#define BANTAM_CONVERTER_ONNX_ONNX_TASK_H_

#include <string>
#include <vector>

#include "network/import_options.h"
#include "onnx/emit.h"
#include "onnx/lowering/lowering.h"
#include "source/fields.h"
#include "source/sentence_transformers.h"

namespace bantam::convert::onnx {

struct Output {
  std::string name;
  int32_t block = -1;
  bool squeezed = false;
  std::string ending;  // operator behind it that is left out; "": none
};
using Outputs = std::vector<Output>;

/// Returns the outputs that are rows of tokens or of texts. Throws Error where none is.
Outputs read_outputs(const Model& model, Lowering& lowering);

struct Choice {
  fb::TaskKind task = fb::TaskKind::none;
  bool pools = false;  // the first output's rows make a text's vector
  Outputs outputs;
  std::vector<std::string> notes;  // report lines
};

/// Chooses the task by --task, the outputs, their names and the files around the graph, in this order. Throws Error where they
/// contradict each other.
Choice choose(const Outputs& outputs, const ImportOptions& options, const ModelSource& source, const Fields& config,
              const std::vector<Block>& blocks, const std::string& file);

/// Adds the model's outputs and the task table. Returns the settings of texts that the files around the graph state:
/// limits, prompts, and the pooling of raw rows (of modules.json of `source`, else their mean).
SentencePooling add_task(const Choice& choice, const Emitted& emitted, const ModelSource& source,
                         const ImportOptions& options, const Fields& config, Problems& problems, Graph& graph,
                         Builder& builder);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_ONNX_TASK_H_
