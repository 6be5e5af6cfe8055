// report --json. Compatibility: fields may be added but never removed.
#include <cmath>

#include "describe/report_json.h"

namespace bantam::convert {
namespace {

OrderedJson operators_json(const std::vector<OperatorTime>& operators, bool kinds) {
  OrderedJson list = OrderedJson::array();
  for (const OperatorTime& op : operators) {
    OrderedJson entry = OrderedJson::object();
    if (!kinds) entry["name"] = op.name;
    entry["kind"] = op.kind;
    entry["type"] = op.type.empty() ? OrderedJson(nullptr) : OrderedJson(op.type);
    if (kinds) entry["ops"] = op.count;
    entry["min_ms"] = static_cast<float>(op.ms);
    entry["share"] = static_cast<float>(op.share);
    entry["of_peak"] = op.of_peak > 0 ? OrderedJson(static_cast<float>(op.of_peak)) : OrderedJson(nullptr);
    list.push_back(std::move(entry));
  }
  return list;
}

OrderedJson timing_json(const Timing& timing) {
  return {{"tokens", timing.tokens},
          {"repetitions", timing.repetitions},
          {"p50_ms", static_cast<float>(timing.median_ms)},
          {"p99_ms", static_cast<float>(timing.p99_ms)},
          {"min_ms", static_cast<float>(timing.least_ms)},
          {"arena_bytes", timing.arena},
          {"per_core_hour", std::round(timing.per_core_hour)},
          {"joules", timing.joules ? OrderedJson(*timing.joules) : OrderedJson(nullptr)},
          {"kinds", operators_json(timing.kinds, true)},
          {"ops", operators_json(timing.operators, false)}};
}

OrderedJson matrix_json(const MatrixReport& matrix) {
  OrderedJson entry = {
      {"name", matrix.name},
      {"group", matrix.group},
      {"kind", purpose_name(matrix.purpose)},
      {"type", matrix.type},
      {"layout", matrix.layout},
      {"shape", {matrix.rows, matrix.columns}},
      {"bytes", matrix.bytes},
      {"zeros", static_cast<float>(matrix.zeros)},
      {"zero_blocks", matrix.linear ? OrderedJson(static_cast<float>(matrix.zero_blocks)) : OrderedJson(nullptr)},
      {"recorded_error", matrix.recorded_error},
      {"error", nullptr},
      {"incomparable", matrix.incomparable.empty() ? OrderedJson(nullptr) : OrderedJson(matrix.incomparable)}};
  if (matrix.error) {
    entry["error"] = {{"relative", static_cast<float>(matrix.error->relative)},
                      {"zeros", static_cast<float>(matrix.error->zeros)},
                      {"largest", static_cast<float>(matrix.error->largest)}};
  }
  return entry;
}

OrderedJson file_json(const FileReport& file) {
  OrderedJson object = {
      {"file", file.path},
      {"name", file.name},
      {"task", file.task},
      {"architecture", file.architecture},
      {"licence", file.licence},
      {"tool", file.tool},
      {"bytes", file.bytes},
      {"parameters", file.parameters},
      {"vocabulary", file.vocabulary},
      {"max_tokens", file.max_tokens},
      {"labels", file.labels},
      {"components", OrderedJson::array()},
      {"matrices", OrderedJson::array()},
      {"made_from_source", file.made_from_source ? OrderedJson(*file.made_from_source) : OrderedJson(nullptr)},
      {"timing", file.timing ? timing_json(*file.timing) : OrderedJson(nullptr)},
      {"metrics", OrderedJson::object()},
      {"truncated", file.truncated},
      {"unknown_labels", file.unknown_labels}};
  for (const Component& component : file.components) {
    object["components"].push_back({{"group", component.group},
                                    {"name", component.name},
                                    {"kind", purpose_name(component.purpose)},
                                    {"bytes", component.bytes}});
  }
  for (const MatrixReport& matrix : file.matrices) object["matrices"].push_back(matrix_json(matrix));
  for (const auto& [name, value] : file.metrics) object["metrics"][name] = static_cast<float>(value);
  return object;
}

}  // namespace

OrderedJson report_json(const ReportData& data) {
  const auto optional = [](const std::string& text) { return text.empty() ? OrderedJson(nullptr) : OrderedJson(text); };
  OrderedJson object = json_object("report");
  object["tool"] = data.tool;
  object["machine"] = optional(data.machine);
  object["data"] = optional(data.data);
  object["layout"] = optional(data.layout);
  object["examples"] = data.examples;
  object["metric"] = optional(data.metric);
  object["source"] = optional(data.source);
  object["missing"] = OrderedJson::array();
  for (const Missing& entry : data.missing) object["missing"].push_back({{"what", entry.what}, {"how", entry.how}});
  object["files"] = OrderedJson::array();
  for (const FileReport& file : data.files) object["files"].push_back(file_json(file));
  return object;
}

}  // namespace bantam::convert
