// Which head a directory has: by option, by architecture name, by tensors.
#include <fmt/format.h>

#include <map>
#include <string_view>

#include "import/heads.h"

namespace bantam::convert {
namespace {

HeadKind sequence_kind(const Fields& config, const Weights& weights) {
  const std::string type = config.text("problem_type", "");
  if (type == "regression") return HeadKind::kRegress;
  if (type == "multi_label_classification") return HeadKind::kMultiLabel;
  if (type.empty() && weights.head_rows("classifier.weight").value_or(2) == 1) return HeadKind::kRegress;
  if (!type.empty() && type != "single_label_classification") {
    config.problem(ExitCode::kUnsupported, "problem_type", fmt::format("\"{}\" is not known", type));
  }
  return HeadKind::kClassify;
}

/// Files without an architecture: what the tensors could be.
HeadKind kind_by_tensors(const Fields& config, const Weights& weights) {
  if (weights.has_head("intent_classifier.weight") && weights.has_head("slot_classifier.weight"))
    return HeadKind::kJoint;
  if (weights.has_head("qa_outputs.weight")) return HeadKind::kAnswer;
  const bool fill =
      weights.has_head("cls.predictions.transform.dense.weight") || weights.has_head("vocab_transform.weight");
  const bool next = weights.has_head("cls.seq_relationship.weight");
  if (weights.has_head("classifier.weight")) {
    const bool pooled = weights.has_encoder("pooler.dense.weight") || weights.has_head("pre_classifier.weight");
    return pooled ? sequence_kind(config, weights) : HeadKind::kTag;
  }
  if (fill) return next ? HeadKind::kPretraining : HeadKind::kFill;
  return next ? HeadKind::kNextSentence : HeadKind::kEncoder;
}

}  // namespace

HeadKind parse_head_kind(const std::string& task) {
  static const std::map<std::string, HeadKind> kKinds = {{"classify", HeadKind::kClassify},
                                                         {"multi-label", HeadKind::kMultiLabel},
                                                         {"regress", HeadKind::kRegress},
                                                         {"tag", HeadKind::kTag},
                                                         {"answer", HeadKind::kAnswer},
                                                         {"choose", HeadKind::kChoose},
                                                         {"fill", HeadKind::kFill},
                                                         {"next-sentence", HeadKind::kNextSentence},
                                                         {"pretraining", HeadKind::kPretraining},
                                                         {"embed", HeadKind::kEmbed},
                                                         {"joint", HeadKind::kJoint},
                                                         {"encoder", HeadKind::kEncoder}};
  const auto found = kKinds.find(task);
  if (found != kKinds.end()) return found->second;
  throw Error(
      ExitCode::kUsage,
      fmt::format("--task {}: there is no such task; classify, multi-label, regress, tag, answer, choose, fill, "
                  "next-sentence, pretraining, embed, joint and encoder are known",
                  task));
}

HeadKind detect_head_kind(const Fields& config, const Weights& weights, Problems& problems) {
  if (!config.has("architectures") || !config.raw("architectures").is_array() || config.raw("architectures").empty() ||
      !config.raw("architectures").front().is_string()) {
    return kind_by_tensors(config, weights);
  }
  const auto name = config.raw("architectures").front().get<std::string>();
  if (name == "JointBertForIntentAndSlots") return HeadKind::kJoint;
  static const std::map<std::string_view, HeadKind> kSuffixes = {{"Model", HeadKind::kEncoder},
                                                                 {"ForSequenceClassification", HeadKind::kClassify},
                                                                 {"ForTokenClassification", HeadKind::kTag},
                                                                 {"ForQuestionAnswering", HeadKind::kAnswer},
                                                                 {"ForMultipleChoice", HeadKind::kChoose},
                                                                 {"ForMaskedLM", HeadKind::kFill},
                                                                 {"ForNextSentencePrediction", HeadKind::kNextSentence},
                                                                 {"ForPreTraining", HeadKind::kPretraining}};
  for (const std::string_view family : {"Bert", "DistilBert"}) {
    if (name.compare(0, family.size(), family) != 0) continue;
    const auto found = kSuffixes.find(std::string_view(name).substr(family.size()));
    if (found == kSuffixes.end()) continue;
    return found->second == HeadKind::kClassify ? sequence_kind(config, weights) : found->second;
  }
  problems.add(ExitCode::kUnsupported,
               fmt::format("config.json: architectures: \"{}\" is not supported; bert and distilbert with the heads of "
                           "transformers are, and --task NAME chooses a head whatever the architecture says",
                           name));
  return HeadKind::kEncoder;
}

}  // namespace bantam::convert
