#include <optional>
#include <utility>

#include "bantam/convert.h"
#include "base/fail.h"
#include "base/guard.h"
#include "pipeline/convert.h"
#include "pipeline/report_json.h"

namespace bantam {
namespace {

using convert::ExitCode;
using convert::fail;

fb::DType type_of(const char* option, const std::string& word) {
  const std::optional<fb::DType> type = convert::find_type(word);
  if (!type) fail(ExitCode::kUsage, "{}: \"{}\" is not a type; use int8, int4, f16 or f32", option, word);
  return *type;
}

/// Is `word` the second of two, and not the first?
bool second_of(const char* option, const std::string& word, const char* first, const char* second) {
  if (word != first && word != second)
    fail(ExitCode::kUsage, "{}: \"{}\" is not {} or {}", option, word, first, second);
  return word == second;
}

convert::PrunePattern pattern_of(const std::string& word) {
  std::string known;
  for (const convert::PrunePattern pattern : convert::kPrunePatterns) {
    if (word == convert::pattern_name(pattern)) return pattern;
    known += std::string(known.empty() ? "" : ", ") + convert::pattern_name(pattern);
  }
  fail(ExitCode::kUsage, "pattern: \"{}\" is not one of {}", word, known);
}

convert::ConvertOptions as_internal(const ConversionOptions& options) {
  convert::ConvertOptions result;
  result.types.weights = type_of("weights", options.weights);
  for (const std::string& keep : options.keep) result.types.keep.push_back(convert::parse_keep(keep));
  result.types.residual = type_of("residual", options.residual);
  result.types.group = options.group;
  if (second_of("activations", options.activations, "dynamic", "static")) {
    result.activations = convert::Activations::kStatic;
  }
  if (second_of("rounding", options.rounding, "nearest", "gptq")) result.rounding = convert::Rounding::kGptq;
  result.prune.share = options.prune;
  result.prune.pattern = pattern_of(options.pattern);
  result.calibrate = options.calibrate;
  result.parity = options.parity;
  result.max_label_flips = options.max_label_flips;
  result.max_tokens = options.max_tokens;
  result.task = options.task;
  result.tool = "bantam " BANTAM_VERSION;
  result.progress = options.progress;
  return result;
}

}  // namespace

Outcome convert_directory(const std::string& source, const std::string& output, const ConversionOptions& options,
                          Conversion* result) {
  return convert::guarded([&] {
    convert::ConvertOptions all = as_internal(options);
    all.source = source;
    all.output = output;
    const convert::Report report = convert::convert(all);
    if (result != nullptr) *result = {report.file_bytes, convert::to_json(report)};
    if (report.gate_failures.empty()) return;
    std::vector<std::string> problems = {"quality gate failed, " + output + " was not written"};
    problems.insert(problems.end(), report.gate_failures.begin(), report.gate_failures.end());
    throw convert::Error(ExitCode::kGate, std::move(problems));
  });
}

}  // namespace bantam
