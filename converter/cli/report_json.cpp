// report --json: fields are only ever added.
#include <cmath>

#include "cli/report.h"

namespace bantam::cli {
namespace {

Json operators_json(const std::vector<convert::OperatorTime>& operators, bool kinds) {
  Json list = Json::array();
  for (const convert::OperatorTime& op : operators) {
    Json entry = Json::object();
    if (!kinds) entry["name"] = op.name;
    entry["kind"] = op.kind;
    entry["type"] = op.type.empty() ? Json(nullptr) : Json(op.type);
    if (kinds) entry["ops"] = op.count;
    entry["min_ms"] = static_cast<float>(op.ms);
    entry["share"] = static_cast<float>(op.share);
    entry["of_peak"] = op.of_peak > 0 ? Json(static_cast<float>(op.of_peak)) : Json(nullptr);
    list.push_back(std::move(entry));
  }
  return list;
}

Json timing_json(const convert::Timing& timing) {
  return {{"tokens", timing.tokens},
          {"repetitions", timing.repetitions},
          {"p50_ms", static_cast<float>(timing.median_ms)},
          {"p99_ms", static_cast<float>(timing.p99_ms)},
          {"min_ms", static_cast<float>(timing.least_ms)},
          {"arena_bytes", timing.arena},
          {"per_core_hour", std::round(timing.per_core_hour)},
          {"joules", timing.joules ? Json(*timing.joules) : Json(nullptr)},
          {"kinds", operators_json(timing.kinds, true)},
          {"ops", operators_json(timing.operators, false)}};
}

Json matrix_json(const convert::MatrixReport& matrix) {
  Json entry = {{"name", matrix.name},
                {"group", matrix.group},
                {"kind", convert::purpose_name(matrix.purpose)},
                {"type", matrix.type},
                {"layout", matrix.layout},
                {"shape", {matrix.rows, matrix.columns}},
                {"bytes", matrix.bytes},
                {"zeros", static_cast<float>(matrix.zeros)},
                {"zero_blocks", matrix.linear ? Json(static_cast<float>(matrix.zero_blocks)) : Json(nullptr)},
                {"recorded_error", matrix.recorded_error},
                {"error", nullptr},
                {"incomparable", matrix.incomparable.empty() ? Json(nullptr) : Json(matrix.incomparable)}};
  if (matrix.error) {
    entry["error"] = {{"relative", static_cast<float>(matrix.error->relative)},
                      {"zeros", static_cast<float>(matrix.error->zeros)},
                      {"largest", static_cast<float>(matrix.error->largest)}};
  }
  return entry;
}

Json file_json(const convert::FileReport& file) {
  Json object = {{"file", file.path},
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
                 {"components", Json::array()},
                 {"matrices", Json::array()},
                 {"made_from_source", file.made_from_source ? Json(*file.made_from_source) : Json(nullptr)},
                 {"timing", file.timing ? timing_json(*file.timing) : Json(nullptr)},
                 {"metrics", Json::object()},
                 {"truncated", file.truncated},
                 {"unknown_labels", file.unknown_labels}};
  for (const convert::Component& component : file.components) {
    object["components"].push_back({{"group", component.group},
                                    {"name", component.name},
                                    {"kind", convert::purpose_name(component.purpose)},
                                    {"bytes", component.bytes}});
  }
  for (const convert::MatrixReport& matrix : file.matrices) object["matrices"].push_back(matrix_json(matrix));
  for (const auto& [name, value] : file.metrics) object["metrics"][name] = static_cast<float>(value);
  return object;
}

}  // namespace

Json report_json(const convert::ReportData& data) {
  const auto optional = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json object = json_object("report");
  object["tool"] = data.tool;
  object["machine"] = optional(data.machine);
  object["data"] = optional(data.data);
  object["layout"] = optional(data.layout);
  object["examples"] = data.examples;
  object["metric"] = optional(data.metric);
  object["source"] = optional(data.source);
  object["missing"] = Json::array();
  for (const convert::Missing& entry : data.missing)
    object["missing"].push_back({{"what", entry.what}, {"how", entry.how}});
  object["files"] = Json::array();
  for (const convert::FileReport& file : data.files) object["files"].push_back(file_json(file));
  return object;
}

}  // namespace bantam::cli
