#include "pipeline/source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "graph/access.h"
#include "import/hugging_face.h"
#include "pipeline/prompt_rows.h"
#include "pipeline/provenance.h"

namespace bantam::convert {
namespace {

std::string describe(const StructureReport& report) {
  std::vector<size_t> after;
  for (size_t i = 0; i < report.before.size(); ++i) after.push_back(report.before[i] - report.removed[i].size());
  return fmt::format("{}: {} of {}", pattern_name(report.options.pattern), fmt::join(after, ", "),
                     fmt::join(report.before, ", "));
}

}  // namespace

ConvertSource read_source(const ConvertOptions& options) {
  ImportOptions import;
  import.task = options.task;
  import.max_tokens = options.max_tokens;
  import.ids_only = options.ids_only;
  import.tag_scheme = options.tag_scheme;
  import.aggregation = options.aggregation;
  import.globals = options.globals;
  import.random_blocks = options.random_blocks;
  import.strict_source = options.strict_source;
  ConvertSource result;
  ModelSource source;
  if (options.student) {
    StudentOptions making;
    making.task = options.task;
    making.progress = options.progress;
    Student made = make_student(options.source, *options.student, making);
    source = made.draft.source();
    result.student = std::move(made.report);
  } else {
    source = open_model_source(
        options.source, {options.entities, options.shortlist, options.tower, options.inputs, options.graph_output});
  }
  result.graph = import_source(source, import);
  count_prompt_rows(options.source.string(), &result.graph);
  if (options.prune.structures()) {
    Draft draft(std::move(source));
    Probe probe;
    if (options.prune.measured()) probe = make_probe(draft, "--calibrate", options.calibrate);
    probe.progress = options.progress;
    result.structures = prune_structures(draft, options.prune, probe);
    result.narrowed = import_source(draft.source(), import);
    count_prompt_rows(options.source.string(), &*result.narrowed);
    result.narrowed->notes = result.graph.notes;
    record(*result.narrowed, "pruned", describe(*result.structures));
  }
  if (result.student) record(result.kept(), "student", fmt::format("{}", fmt::join(result.student->steps, "; ")));
  return result;
}

bool is_for_long_texts(const Graph& graph) {
  const auto& ops = main_subgraph(graph).ops;
  return std::any_of(ops.begin(), ops.end(), [](const auto& op) {
    const fb::AttentionT* attention = op->attributes.AsAttention();
    return attention != nullptr && attention->mask >= fb::MaskKind::globals;
  });
}

}  // namespace bantam::convert
