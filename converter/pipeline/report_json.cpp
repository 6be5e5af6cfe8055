#include "pipeline/report_json.h"

#include <nlohmann/json.hpp>

namespace bantam::convert {
namespace {

/// JSON whose keys keep their order and whose numbers are f32.
using OrderedJson =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, int64_t, uint64_t, float>;

OrderedJson to_object(const Place& place, bool flip) {
  OrderedJson object;
  object["text"] = place.text;
  object["row"] = place.row;
  if (flip) {
    object["expected"] = place.expected;
    object["got"] = place.got;
    object["margin"] = place.amount;
  } else {
    object["difference"] = place.amount;
  }
  return object;
}

OrderedJson to_object(const Reliability& reliability) {
  return {{"loss", static_cast<float>(reliability.loss)}, {"calibration_error", static_cast<float>(reliability.error)}};
}

OrderedJson to_object(const ScoreCalibration& scores) {
  OrderedJson object;
  object["texts"] = scores.texts;
  object["out_of_scope"] = scores.out_of_scope;
  object["temperature"] = scores.temperature;
  object["reject_below"] = scores.reject_below;
  object["before"] = to_object(scores.before);
  object["after"] = to_object(scores.after);
  object["rejected_right"] = static_cast<float>(scores.rejected_right);
  object["rejected_wrong"] = static_cast<float>(scores.rejected_wrong);
  object["rejected_out_of_scope"] = static_cast<float>(scores.rejected_out_of_scope);
  return object;
}

OrderedJson to_object(const BudgetReport& budget) {
  OrderedJson object;
  object["budget"] = budget.budget;
  object["predicted_bytes"] = budget.file_bytes;
  object["predicted_divergence"] = static_cast<float>(budget.divergence);
  object["predicted_latency"] = static_cast<float>(budget.latency);
  object["types"] = OrderedJson::object();
  for (const auto& [name, type] : budget.types) object["types"][name] = type;
  return object;
}

OrderedJson to_object(const StructureReport& pruned) {
  OrderedJson object;
  object["pattern"] = pattern_name(pruned.options.pattern);
  object["share"] = static_cast<float>(pruned.options.share);
  object["scope"] = pruned.options.scope == PruneScope::kGlobal ? "global" : "uniform";
  object["by"] = pruned.options.measured() ? "activations" : "magnitude";
  object["layers"] = OrderedJson::array();
  for (size_t i = 0; i < pruned.before.size(); ++i) {
    object["layers"].push_back({{"before", pruned.before[i]},
                                {"after", pruned.before[i] - pruned.removed[i].size()},
                                {"removed", pruned.removed[i]}});
  }
  object["parameters_before"] = pruned.parameters_before;
  object["parameters_after"] = pruned.parameters_after;
  return object;
}

OrderedJson to_object(const Comparison& comparison) {
  if (!comparison.done()) return nullptr;
  OrderedJson object;
  object["against"] = comparison.against;
  object["texts"] = comparison.texts;
  object["outputs"] = OrderedJson::array();
  for (const OutputComparison& output : comparison.outputs) {
    OrderedJson entry;
    entry["name"] = output.name;
    entry["vectors"] = output.vectors;
    entry["decisions"] = output.decisions;
    entry["labels_differing"] = output.differing;
    entry["label_flips"] = output.flips;
    entry["divergence"] = static_cast<float>(output.divergence());
    entry["largest_difference"] = output.largest_difference;
    entry["cosine"] = static_cast<float>(output.cosine);
    entry["least_cosine"] = static_cast<float>(output.least_cosine);
    entry["worst_flip"] = output.flips > 0 ? to_object(output.worst_flip, true) : OrderedJson(nullptr);
    entry["worst_difference"] = to_object(output.worst_difference, false);
    object["outputs"].push_back(std::move(entry));
  }
  return object;
}

OrderedJson to_object(const Verdict& verdict) {
  return {{"output", verdict.output},
          {"measure", verdict.measure},
          {"amount", static_cast<float>(verdict.amount)},
          {"count", static_cast<uint64_t>(verdict.count)},
          {"rate", static_cast<float>(verdict.rate)},
          {"lower_bound", static_cast<float>(verdict.lower_bound)},
          {"upper_bound", static_cast<float>(verdict.upper_bound)},
          {"passed", verdict.passed}};
}

OrderedJson to_object(const GateReport& gate, const std::vector<std::string>& failures) {
  OrderedJson object = {{"max_label_flips", static_cast<float>(gate.limit)},
                        {"flip_margin", kFlipMargin},
                        {"confidence", static_cast<float>(kConfidence)},
                        {"passed", failures.empty()},
                        {"texts", gate.texts},
                        {"labelled", gate.labelled},
                        {"outputs", OrderedJson::array()},
                        {"failures", failures},
                        {"attempts", OrderedJson::array()},
                        {"taken", gate.taken.empty() ? OrderedJson(nullptr) : OrderedJson(gate.taken)}};
  for (const Verdict& verdict : gate.verdicts) object["outputs"].push_back(to_object(verdict));
  for (const Attempt& attempt : gate.attempts) {
    object["attempts"].push_back({{"options", attempt.options},
                                  {"file_bytes", attempt.file_bytes},
                                  {"passed", attempt.passed},
                                  {"problem", attempt.problem}});
  }
  return object;
}

}  // namespace

std::string to_json(const Report& report) {
  OrderedJson object;
  object["schema"] = "bantam.convert/1";
  object["source"] = report.source;
  object["output"] = report.output;
  object["task"] = report.task;
  object["student"] = report.student ? OrderedJson::parse(student_json(*report.student).dump()) : OrderedJson(nullptr);
  object["weights"] = report.weights;
  object["pruned"] = report.structures ? to_object(*report.structures) : OrderedJson(nullptr);
  object["budget"] = report.budget ? to_object(*report.budget) : OrderedJson(nullptr);
  object["scores"] = report.scores ? to_object(*report.scores) : OrderedJson(nullptr);
  object["file_bytes"] = report.file_bytes;
  object["tokenizer_bytes"] = report.tokenizer_bytes;
  if (report.shortlist_bytes != 0) object["shortlist_bytes"] = report.shortlist_bytes;
  object["graph_bytes"] = report.graph_bytes;
  object["classes"] = OrderedJson::array();
  for (const TensorClass& row : report.classes) {
    object["classes"].push_back({{"name", row.name},
                                 {"types", row.types},
                                 {"tensors", row.tensors},
                                 {"bytes_before", row.bytes_before},
                                 {"bytes_after", row.bytes_after},
                                 {"worst_error", row.worst_error},
                                 {"worst_tensor", row.worst_tensor}});
  }
  object["arena"] = OrderedJson::array();
  for (const ArenaSize& size : report.arena)
    object["arena"].push_back({{"tokens", size.tokens}, {"bytes", size.bytes}});
  object["passes"] = report.passes;
  object["source_keys"] = OrderedJson::array();
  for (const SourceKey& key : report.source_keys) {
    object["source_keys"].push_back(
        {{"file", key.file}, {"key", key.key}, {"value", key.value}, {"effect", key.effect}});
  }
  object["notes"] = report.notes;
  object["smaller"] = report.smaller;
  object["parity"] = to_object(report.parity);
  object["expected"] = to_object(report.expected);
  object["gate"] = to_object(report.gate, report.gate_failures);
  return object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace bantam::convert
