// Which head a directory has: by option, by architecture name, by tensors.
#include <fmt/format.h>

#include <string_view>

#include "graph/task_parts.h"
#include "import/heads.h"

namespace bantam::convert {
namespace {

/// Of models that give a row of values a text.
fb::TaskKind sequence_task(const Fields& config, const Weights& weights) {
  const std::string type = config.text("problem_type", "");
  if (type == "regression") return fb::TaskKind::regress;
  if (type == "multi_label_classification") return fb::TaskKind::multi_label;
  if (type.empty() && weights.head_rows("classifier.weight").value_or(2) == 1) return fb::TaskKind::regress;
  if (!type.empty() && type != "single_label_classification") {
    config.problem(ExitCode::kUnsupported, "problem_type", fmt::format("\"{}\" is not known", type));
  }
  return fb::TaskKind::classify;
}

/// Files without an architecture: what the tensors could be.
fb::TaskKind task_by_tensors(const Fields& config, const Weights& weights) {
  if (weights.has_head("intent_classifier.weight") && weights.has_head("slot_classifier.weight"))
    return fb::TaskKind::joint;
  if (weights.has_head("qa_outputs.weight")) return fb::TaskKind::answer;
  const bool fill =
      weights.has_head("cls.predictions.transform.dense.weight") || weights.has_head("vocab_transform.weight");
  const bool next = weights.has_head("cls.seq_relationship.weight");
  if (weights.has_head("classifier.weight")) {
    const bool pooled = weights.has_encoder("pooler.dense.weight") || weights.has_head("pre_classifier.weight");
    return pooled ? sequence_task(config, weights) : fb::TaskKind::tag;
  }
  if (fill) return next ? fb::TaskKind::pretraining : fb::TaskKind::fill;
  return next ? fb::TaskKind::next_sentence : fb::TaskKind::none;
}

}  // namespace

fb::TaskKind parse_head(const std::string& task) {
  const std::optional<TaskKind> named = parse_task(task);
  if (named && (imported_heads() >> static_cast<uint32_t>(*named) & 1u) != 0) return static_cast<fb::TaskKind>(*named);
  throw Error(ExitCode::kUsage,
              fmt::format("--task {}: there is no such task; {} are known", task, task_list(imported_heads())));
}

fb::TaskKind detect_head(const Fields& config, const Weights& weights, Problems& problems) {
  if (!config.has("architectures") || !config.raw("architectures").is_array() || config.raw("architectures").empty() ||
      !config.raw("architectures").front().is_string()) {
    return task_by_tensors(config, weights);
  }
  const auto name = config.raw("architectures").front().get<std::string>();
  std::optional<fb::TaskKind> found = head_of_architecture(name);
  for (const std::string_view family : {"Bert", "DistilBert"}) {
    const bool of_family = name.compare(0, family.size(), family) == 0;
    if (!found && of_family) found = head_of_architecture(std::string_view(name).substr(family.size()));
  }
  if (found) return *found == fb::TaskKind::classify ? sequence_task(config, weights) : *found;
  problems.add(ExitCode::kUnsupported,
               fmt::format("config.json: architectures: \"{}\" is not supported; bert and distilbert with the heads of "
                           "transformers are, and --task NAME chooses a head whatever the architecture says",
                           name));
  return fb::TaskKind::none;
}

}  // namespace bantam::convert
