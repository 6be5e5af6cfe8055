#include "pipeline/convert.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/error.h"
#include "base/output_file.h"
#include "pipeline/check_options.h"
#include "pipeline/gate.h"
#include "pipeline/produce.h"
#include "pipeline/remedies.h"

namespace bantam::convert {
namespace {

/// Tries remedies and records the attempts in the report. If options.automatic is set, replaces the refused file by the
/// first one that passes.
void try_remedies(const ConvertOptions& options, const ConvertSource& source, Gate& gate, Produced& produced) {
  Report& refused = produced.report;
  std::optional<Produced> found =
      find_remedy(options, source.narrowed ? *source.narrowed : source.graph, gate, refused);
  if (!found || !options.automatic) return;
  found->report.gate.attempts = std::move(refused.gate.attempts);
  found->report.gate.refused_file_bytes = refused.gate.refused_file_bytes;
  found->report.gate.taken = found->report.gate.attempts.back().options;
  produced = std::move(*found);
}

/// `options` is updated: choices that depend on the source are made.
Report convert_checked(ConvertOptions& options) {
  const bool parity_file = options.parity != "none" && options.parity != "all";
  check_options(options);
  refuse_input_as_output(options.output,
                         {options.source, parity_file ? options.parity : "", options.expect, options.calibrate,
                          options.sensitivity, options.calibrate_scores, options.gate_data});
  OutputFile output(options.output);

  options.progress("reading", 0);
  ConvertSource source = read_source(options);
  const bool open = options.types.plan == Plan::kByResidual && options.activations == Activations::kDynamic;
  if (open && is_for_long_texts(source.graph)) options.types.plan = Plan::kSmall;
  Produced produced = produce(options, source);
  Gate gate(source.graph, options);
  gate.judge(produced.built.bytes, "comparing with f32", produced.report);
  if (!produced.report.gate_failures.empty()) try_remedies(options, source, gate, produced);
  if (!produced.report.gate_failures.empty()) return std::move(produced.report);
  options.progress("writing", 0);
  output.commit(produced.built.bytes.data(), produced.built.bytes.size());
  return std::move(produced.report);
}

}  // namespace

Report convert(const ConvertOptions& options) {
  ConvertOptions checked = options;
  if (!checked.progress) checked.progress = [](const char*, double) {};
  try {
    return convert_checked(checked);
  } catch (const std::bad_alloc&) {
    throw Error(ExitCode::kOutOfSpace, fmt::format("{}: not enough memory to convert it; close other programs, or "
                                                   "convert it on a larger machine",
                                                   options.source.string()));
  }
}

}  // namespace bantam::convert
