#include "pipeline/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/sha256.h"

namespace bantam::convert {
namespace {

const char* sparse_name(Sparse sparse) {
  switch (sparse) {
    case Sparse::kNever:
      return "never";
    case Sparse::kAlways:
      return "always";
    case Sparse::kSmallest:
      return "smallest";
    default:
      return "auto";
  }
}

std::string pruning(const PruneOptions& prune) {
  return fmt::format(" prune={} pattern={} scope={} prune-by={}", prune.share, pattern_name(prune.pattern),
                     prune.scope == PruneScope::kGlobal ? "global" : "uniform",
                     prune.measured() ? "activations" : "magnitude");
}

std::string types(const TypeOptions& types) {
  std::string text = fmt::format("weights={}", type_name(types.weights));
  bool int4 = types.weights == fb::DType::i4;
  for (const Keep& keep : types.keep) {
    text += fmt::format(" keep={}={}", keep.pattern, type_name(keep.type));
    int4 = int4 || keep.type == fb::DType::i4;
  }
  if (int4) text += fmt::format(" group={}", types.group);
  return text;
}

}  // namespace

void record(Graph& graph, const char* key, std::string value) {
  auto property = std::make_unique<fb::PropertyT>();
  property->key = key;
  property->value = std::move(value);
  graph.model.properties.push_back(std::move(property));
}

std::string recipe_of(const ConvertOptions& options) {
  const ConvertOptions unnamed;
  std::string recipe = types(options.types);
  if (options.activations == Activations::kStatic) {
    recipe += " activations=static";
    if (options.ranges.by != RangeBy::kMinMax) recipe += fmt::format(" calibrate-by={}", range_name(options.ranges.by));
    if (options.ranges.by == RangeBy::kPercentile) recipe += fmt::format(" percentile={}", options.ranges.percentile);
  }
  if (options.rounding == Rounding::kGptq) recipe += " rounding=gptq";
  if (options.prune.share > 0) recipe += pruning(options.prune);
  if (options.types.sparse != Sparse::kAuto) recipe += fmt::format(" sparse={}", sparse_name(options.types.sparse));
  if (options.types.sparse == Sparse::kAuto && options.types.typical_tokens != unnamed.types.typical_tokens)
    recipe += fmt::format(" typical-tokens={}", options.types.typical_tokens);
  if (options.types.sparse == Sparse::kAuto && !options.types.target_cpu.empty())
    recipe += fmt::format(" target-cpu={}", options.types.target_cpu);
  if (!options.calibrate.empty()) recipe += " calibrate=sha256:" + sha256_of_file(options.calibrate);
  if (options.types.residual != fb::DType::f32)
    recipe += fmt::format(" residual={}", type_name(options.types.residual));
  if (!options.calibrate_scores.empty()) {
    recipe += " calibrate_scores=sha256:" + sha256_of_file(options.calibrate_scores);
    if (options.max_rejected != unnamed.max_rejected) recipe += fmt::format(" max-rejected={}", options.max_rejected);
  }
  if (options.small_plan()) recipe += " plan=small";
  if (options.ids_only) recipe += " ids-only";
  if (options.max_tokens != 0) recipe += fmt::format(" max_tokens={}", options.max_tokens);
  if (!options.entities.empty()) recipe += " entities=sha256:" + sha256_of_file(options.entities);
  if (!options.tower.empty()) recipe += fmt::format(" tower={}", options.tower);
  if (!options.inputs.empty()) recipe += fmt::format(" inputs={}", options.inputs);
  if (!options.graph_output.empty()) recipe += fmt::format(" graph-output={}", options.graph_output);
  if (options.shortlist == "none") recipe += " shortlist=none";
  if (!options.task.empty()) recipe += fmt::format(" task={}", options.task);
  if (!options.tag_scheme.empty()) recipe += fmt::format(" tag-scheme={}", options.tag_scheme);
  if (!options.aggregation.empty()) recipe += fmt::format(" aggregation={}", options.aggregation);
  if (!options.globals.empty()) recipe += fmt::format(" globals={}", options.globals);
  if (options.random_blocks) recipe += fmt::format(" random-blocks={}", *options.random_blocks);
  return recipe;
}

}  // namespace bantam::convert
