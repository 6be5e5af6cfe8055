// Chooses the head of a directory: by option, by architecture name, or by tensors.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "graph/task_parts.h"
#include "network/heads.h"

namespace bantam::convert {
namespace {

/// The task of models that output one row of values per text.
fb::TaskKind sequence_task(const Head& head, const Fields& config, const Weights& weights) {
  const std::string type = config.text("problem_type", "");
  if (type == "regression") return fb::TaskKind::regress;
  if (type == "multi_label_classification") return fb::TaskKind::multi_label;
  const std::string last = std::string(head.layers.back().name) + ".weight";
  if (type.empty() && weights.head_rows(last).value_or(2) == 1) return fb::TaskKind::regress;
  if (!type.empty() && type != "single_label_classification") {
    config.problem(ExitCode::kUnsupported, "problem_type", fmt::format("\"{}\" is not known", type));
  }
  return fb::TaskKind::classify;
}

ChosenHead chosen(const Head& head, const Fields& config, const Weights& weights) {
  return {head.task == fb::TaskKind::classify ? sequence_task(head, config, weights) : head.task, &head};
}

/// True if a head's own tensors are present. An output layer over the vocabulary may be the word embeddings, so it does
/// not count.
bool has_tensors(const Family& family, const Head& head, const Weights& weights) {
  if (head.rows == Rows::kPooler && !weights.has_encoder(std::string(family.name(Slot::kPooler)) + ".weight")) {
    return false;
  }
  return !head.layers.empty() && std::all_of(head.layers.begin(), head.layers.end(), [&](const HeadLayer& layer) {
    return layer.out == HeadLayer::Out::kVocabulary || weights.has_head(std::string(layer.name) + ".weight");
  });
}

/// For files without an architecture: the head that the tensors suggest.
ChosenHead head_by_tensors(const Family& family, const Fields& config, const Weights& weights) {
  const auto there = [&](fb::TaskKind task) -> const Head* {
    for (const Head& head : family.heads) {
      if (head.task == task && has_tensors(family, head, weights)) return &head;
    }
    return nullptr;
  };
  if (weights.has_head("intent_classifier.weight") && weights.has_head("slot_classifier.weight")) {
    return {fb::TaskKind::joint, family.head(fb::TaskKind::joint)};
  }
  const Head* tags = there(fb::TaskKind::tag);
  if (tags != nullptr && weights.has_head("crf.transitions")) return {fb::TaskKind::tag, tags};
  const Head* words = there(fb::TaskKind::fill);
  const Head* next = there(fb::TaskKind::next_sentence);
  const Head* both = words != nullptr && next != nullptr ? family.head(fb::TaskKind::pretraining) : nullptr;
  const Head* follows = there(fb::TaskKind::generate);
  for (const Head* head :
       {there(fb::TaskKind::answer), there(fb::TaskKind::classify), tags, both, words, next, follows}) {
    if (head != nullptr) return chosen(*head, config, weights);
  }
  return {fb::TaskKind::none, family.head(fb::TaskKind::none)};
}

/// The head of a class of transformers: "BertForTokenClassification", "JointBertForIntentAndSlots".
const Head* head_of_class(const Family& family, const Weights& weights, std::string_view name) {
  constexpr std::string_view kJoint = "Joint", kJointEnd = "ForIntentAndSlots";
  if (name.substr(0, kJoint.size()) == kJoint && name.size() > kJointEnd.size() &&
      name.substr(name.size() - kJointEnd.size()) == kJointEnd) {
    return family.head(fb::TaskKind::joint);
  }
  // If several heads have one class, the one whose tensors are present is taken. Classes of other families count, too,
  // because models with one graph are saved under several families' names.
  for (const Family& other : families()) {
    for (const std::string_view beginning : other.architectures) {
      if (name.substr(0, beginning.size()) != beginning) continue;
      const Head* found = nullptr;
      for (const Head& head : family.heads) {
        if (head.architecture == nullptr || name.substr(beginning.size()) != head.architecture) continue;
        if (found == nullptr || (!has_tensors(family, *found, weights) && has_tensors(family, head, weights)))
          found = &head;
      }
      if (found != nullptr) return found;
    }
  }
  return nullptr;
}

/// Names of the tasks that a family has heads for, as users type them.
std::string tasks_of(const Family& family) { return task_list(family.tasks()); }

}  // namespace

fb::TaskKind parse_head(const std::string& task) {
  const std::optional<TaskKind> named = parse_task(task);
  if (named && (imported_heads() >> static_cast<uint32_t>(*named) & 1u) != 0) return static_cast<fb::TaskKind>(*named);
  throw Error(ExitCode::kUsage,
              fmt::format("--task {}: there is no such task; {} are known", task, task_list(imported_heads())));
}

ChosenHead head_of_task(const Family& family, fb::TaskKind task, const Weights& weights, Problems& problems) {
  const bool labels = task == fb::TaskKind::multi_label || task == fb::TaskKind::regress;
  // Term weights are computed from vocabulary scores.
  const fb::TaskKind wanted = labels                               ? fb::TaskKind::classify
                              : task == fb::TaskKind::sparse_embed ? fb::TaskKind::fill
                                                                   : task;
  const Head* found = nullptr;
  for (const Head& head : family.heads) {
    if (head.task != wanted) continue;
    if (found == nullptr || (!has_tensors(family, *found, weights) && has_tensors(family, head, weights)))
      found = &head;
  }
  if (found == nullptr) {
    problems.add(ExitCode::kUnsupported,
                 fmt::format("--task {}: {} has no such head; it has {}", typed_name(static_cast<TaskKind>(task)),
                             family.model_types.front(), tasks_of(family)));
  }
  return {task, found};
}

ChosenHead detect_head(const Family& family, const Fields& config, const Weights& weights, Problems& problems) {
  if (!config.has("architectures") || !config.raw("architectures").is_array() || config.raw("architectures").empty() ||
      !config.raw("architectures").front().is_string()) {
    return head_by_tensors(family, config, weights);
  }
  const auto name = config.raw("architectures").front().get<std::string>();
  if (const Head* found = head_of_class(family, weights, name)) return chosen(*found, config, weights);
  // Each training program has its own class for a chain of tags.
  if (weights.has_head("crf.transitions")) return head_by_tensors(family, config, weights);
  for (const auto& [refused, why] : family.refused) {
    if (name != std::string(family.architectures.front()) + refused) continue;
    problems.add(ExitCode::kUnsupported, fmt::format("config.json: architectures: \"{}\" {}", name, why));
    return {};
  }
  problems.add(
      ExitCode::kUnsupported,
      fmt::format("config.json: architectures: \"{}\" is not supported; {} with heads for {} is, and --task NAME "
                  "chooses one whatever the architecture says",
                  name, family.model_types.front(), tasks_of(family)));
  return {};
}

}  // namespace bantam::convert
