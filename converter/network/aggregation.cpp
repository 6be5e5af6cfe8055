#include "network/aggregation.h"

#include <algorithm>

#include "graph/access.h"
#include "graph/aggregation.h"
#include "graph/task_parts.h"
#include "model/task_traits.h"
#include "source/labels.h"

namespace bantam::convert {
namespace {

bool has_chain(const Graph& graph) {
  const auto& ops = main_subgraph(graph).ops;
  return std::any_of(ops.begin(), ops.end(),
                     [](const auto& op) { return op->attributes.type == fb::OpAttributes::Crf; });
}

/// True if the tokenizer marks tokens that continue a word.
bool marks_continuations(const Graph& graph) {
  const auto& all = graph.model.tokenizers;
  return !all.empty() && all.front()->model != nullptr && !all.front()->model->continuing_prefix.empty();
}

/// True if transformers reads B- and I- in these labels as the scheme does.
bool reads_alike(const fb::LabelSetT& set) {
  return set.scheme != fb::TagScheme::bioes &&
         (set.scheme != fb::TagScheme::plain || guess_tag_scheme(set.labels) == fb::TagScheme::plain);
}

}  // namespace

void choose_aggregation(const ImportOptions& options, Graph& graph, Problems& problems) {
  const Aggregation asked = parse_aggregation("--aggregation", options.aggregation);
  fb::TaskT* task = graph.model.task.get();
  const uint32_t parts = task == nullptr ? 0 : traits(task->kind).parts;
  if ((parts & kWordsPart) == 0) {
    if (asked != Aggregation::kFile) {
      problems.add(ExitCode::kUsage, "--aggregation: the model gives no labels of words; leave it out");
    }
    return;
  }
  task->blank_words = false;
  const bool own = (parts & kLabelsPart) != 0 || has_chain(graph);
  for (const auto& set : task->label_sets) {
    if (graph.model.outputs.at(set->output)->role != fb::OutputRole::tags) continue;
    const Aggregation usual = own || !reads_alike(*set)    ? Aggregation::kWords
                              : marks_continuations(graph) ? Aggregation::kFirst
                                                           : Aggregation::kSimple;
    set->aggregation = static_cast<fb::Aggregation>(asked == Aggregation::kFile ? usual : asked);
  }
}

}  // namespace bantam::convert
