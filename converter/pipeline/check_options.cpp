#include "pipeline/check_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "kernels/kernels.h"
#include "pipeline/produce.h"

namespace bantam::convert {

/// Static activations require int8 weights everywhere, and texts to calibrate on.
void check_options(const ConvertOptions& options) {
  const bool fixed = options.activations == Activations::kStatic;
  Problems problems;
  if (fixed && options.calibrate.empty()) {
    problems.add(
        ExitCode::kUsage,
        "--activations static: add --calibrate FILE, some hundred texts like those the model will see, one a line "
        "(or lines of JSON with \"text\")");
  }
  if (!fixed && options.ranges.by != RangeBy::kMinMax) {
    problems.add(ExitCode::kUsage,
                 "--calibrate-by is for --activations static; dynamic activations take their scales while running");
  }
  if (const std::string problem = range_problem(options.ranges); !problem.empty())
    problems.add(ExitCode::kUsage, problem);
  if (options.ranges.by != RangeBy::kPercentile && options.ranges.percentile != RangeOptions().percentile) {
    problems.add(ExitCode::kUsage, "--percentile is for --calibrate-by percentile: add it, or leave --percentile out");
  }
  if (options.student && !options.entities.empty()) {
    problems.add(ExitCode::kUsage, "--entities goes without --student; make the student first (bantam student)");
  }
  if (options.student && !options.tower.empty()) {
    problems.add(ExitCode::kUsage, "--tower goes without --student: there are no students of such models yet");
  }
  if (options.student && (!options.inputs.empty() || !options.graph_output.empty())) {
    problems.add(ExitCode::kUsage,
                 "--inputs and --graph-output go without --student: students are made of directories");
  }
  if (options.student && !options.shortlist.empty()) {
    problems.add(ExitCode::kUsage, "--shortlist goes without --student, which takes the one that lies there");
  }
  const bool rounds = options.rounding == Rounding::kGptq;
  const bool measures = wants_moments(options) || (options.prune.structures() && options.prune.measured());
  if (!fixed && !measures && !options.calibrate.empty()) {
    problems.add(
        ExitCode::kUsage,
        "--calibrate is for --activations static, --rounding gptq and --prune-by activations; leave it out, or "
        "add one of them");
  }
  if (const std::string problem = prune_problem(options.prune); !problem.empty())
    problems.add(ExitCode::kUsage, problem);
  if (options.prune.zeros() && !is_rounded(options.types.weights)) {
    problems.add(ExitCode::kUsage,
                 "--prune is for int8 and int4 files but with --pattern heads or ffn; leave out --weights, or --prune");
  }
  if (rounds && (fixed || !is_rounded(options.types.weights))) {
    problems.add(ExitCode::kUsage,
                 "--rounding gptq is for int8 and int4 weights with dynamic activations; leave it out");
  }
  const auto int4 = [](const Keep& keep) { return keep.type == fb::DType::i4; };
  const bool any_int4 =
      options.types.weights == fb::DType::i4 || std::any_of(options.types.keep.begin(), options.types.keep.end(), int4);
  if (options.types.group != kInt4Group && !any_int4) {
    problems.add(ExitCode::kUsage,
                 "--group is for int4 weights: add --weights int4 or --keep 'RE=i4', or leave it out");
  }
  if (options.types.group % 8 != 0 || options.types.group == 0 || options.types.group > kernels::kMostInt4Group) {
    problems.add(ExitCode::kUsage,
                 fmt::format("--group {}: a group is a multiple of 8 inputs, up to {}, such as 32 or 64",
                             options.types.group, kernels::kMostInt4Group));
  }
  if (fixed && (options.types.weights != fb::DType::i8 || !options.types.keep.empty())) {
    problems.add(ExitCode::kUsage, "--activations static stores every weight in int8: leave out --weights and --keep");
  }
  if (options.budget.empty() != options.sensitivity.empty()) {
    problems.add(ExitCode::kUsage, "--budget and --sensitivity go together: the costs come from bantam sensitivity");
  }
  if (!options.budget.empty() && (fixed || options.types.weights != fb::DType::i8 || !options.types.keep.empty())) {
    problems.add(ExitCode::kUsage, "--budget chooses every type: leave out --weights, --keep and --activations static");
  }
  if (options.types.residual == fb::DType::i8 && !is_integer(options.types.weights)) {
    problems.add(ExitCode::kUsage,
                 "--residual i8 is for int8, int4 and ternary files; leave out --weights, or --residual");
  }
  const bool texts = !options.parity.empty() && options.parity != "none" && options.parity != "all";
  if (!options.gate_data.empty() && !options.parity.empty()) {
    problems.add(ExitCode::kUsage,
                 fmt::format("--gate-data and --parity {} both say what judges the file: leave out one",
                             texts ? "FILE" : options.parity));
  }
  if (options.automatic && options.parity == "none") {
    problems.add(ExitCode::kUsage, "--auto tries options until the gate passes: leave out --parity none");
  }
  problems.raise();
}

}  // namespace bantam::convert
