// Determines what a file's outputs mean for a task: scores of labels, of tags, of words, start and end of an answer, or
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
  std::string ending;  // the final operator that is omitted; "": none
};
using Outputs = std::vector<Output>;

/// Returns the outputs whose rows are tokens or texts. Throws Error if there is none.
Outputs read_outputs(const Model& model, Lowering& lowering);

struct Choice {
  fb::TaskKind task = fb::TaskKind::none;
  bool pools = false;  // the first output's rows are pooled to a text's vector
  Outputs outputs;
  std::vector<std::string> notes;  // lines for the report
};

/// Chooses the task from --task, the outputs, their names and the files beside the graph, in this order of priority.
/// Throws Error if they contradict each other.
Choice choose(const Outputs& outputs, const ImportOptions& options, const ModelSource& source, const Fields& config,
              const std::vector<Block>& blocks, const std::string& file);

/// Adds the model's outputs and the task table. Returns the text settings from the files beside the graph: limits,
/// prompts, and the pooling of token rows (from modules.json of `source`, else their mean).
SentencePooling add_task(const Choice& choice, const Emitted& emitted, const ModelSource& source,
                         const ImportOptions& options, const Fields& config, Problems& problems, Graph& graph,
                         Builder& builder);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_ONNX_TASK_H_
