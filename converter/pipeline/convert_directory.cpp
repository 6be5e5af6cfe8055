#include <optional>
#include <utility>

#include "bantam/convert.h"
#include "base/fail.h"
#include "base/guard.h"
#include "pipeline/convert.h"
#include "pipeline/option_words.h"
#include "pipeline/report_json.h"

namespace bantam {
namespace {

using convert::ExitCode;
using convert::fail;

fb::DType type_of(const char* option, const std::string& word) {
  const std::optional<fb::DType> type = convert::find_type(word);
  if (!type) fail(ExitCode::kUsage, "{}: \"{}\" is not a type; use int8, int4, ternary, f16 or f32", option, word);
  return *type;
}

/// Returns the value of a word.
template <typename T>
T choice(const char* option, const std::string& word, const convert::OptionWords<T>& words) {
  const auto found = words.find(word);
  if (found != words.end()) return found->second;
  std::string known;
  for (const auto& [name, unused] : words) known += (known.empty() ? "" : ", ") + name;
  fail(ExitCode::kUsage, "{}: \"{}\" is not one of {}", option, word, known);
}

convert::ConvertOptions as_internal(const ConversionOptions& options) {
  convert::ConvertOptions result;
  result.types.weights = type_of("weights", options.weights);
  for (const std::string& keep : options.keep) result.types.keep.push_back(convert::parse_keep(keep));
  result.types.residual = choice("residual", options.residual, convert::residual_words());
  result.types.group = options.group;
  result.types.sparse = choice("sparse", options.sparse, convert::sparse_words());
  if (!options.plan.empty()) result.types.plan = choice("plan", options.plan, convert::plan_words());
  result.activations = choice("activations", options.activations, convert::activation_words());
  result.rounding = choice("rounding", options.rounding, convert::rounding_words());
  result.ranges.by = choice("calibrate_by", options.calibrate_by, convert::range_words());
  result.ranges.percentile = options.percentile;
  result.budget = options.budget;
  result.sensitivity = options.sensitivity;
  if (!options.student.empty()) result.student = convert::read_recipe(options.student);
  result.prune.share = options.prune;
  result.prune.pattern = choice("pattern", options.pattern, convert::pattern_words());
  result.prune.scope = choice("prune_scope", options.prune_scope, convert::scope_words());
  if (!options.prune_by.empty()) {
    result.prune.by_activation = choice("prune_by", options.prune_by, convert::measure_words());
  }
  result.calibrate = options.calibrate;
  result.parity = options.parity;
  result.gate_data = options.gate_data;
  result.automatic = options.automatic;
  result.calibrate_scores = options.calibrate_scores;
  result.max_rejected = options.max_rejected;
  result.expect = options.expect;
  result.max_label_flips = options.max_label_flips;
  result.max_tokens = options.max_tokens;
  result.ids_only = options.ids_only;
  result.inputs = options.inputs;
  result.graph_output = options.graph_output;
  result.task = options.task;
  result.tag_scheme = options.tag_scheme;
  result.aggregation = options.aggregation;
  result.globals = options.globals;
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
