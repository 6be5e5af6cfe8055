// Remedies for a file that the gate refuses: other options, tried cheapest first until one passes.
#ifndef BANTAM_CONVERTER_PIPELINE_REMEDIES_H_
#define BANTAM_CONVERTER_PIPELINE_REMEDIES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/convert.h"
#include "pipeline/gate.h"
#include "pipeline/produce.h"

namespace bantam::convert {

struct Remedy {
  std::string words;  // as typed, in addition to the given options
  ConvertOptions options;
};

/// The remedies in the order in which to try them: first those that cost no bytes (rounding, another calibration, an
/// f32 residual), then those that cost few. The remedies of keep_lists come between these two.
std::vector<Remedy> free_remedies(const ConvertOptions& refused);
std::vector<Remedy> costly_remedies(const ConvertOptions& refused);

/// Keeps the matrices whose quantization loses most for the bytes that it saves in the next wider type: the first one,
/// two, four, eight and sixteen of them. Each is measured alone on `texts`. Empty if types are not the cause.
std::vector<Remedy> keep_lists(const ConvertOptions& refused, const Graph& graph,
                               const std::vector<LabelledText>& texts, const std::function<void(double)>& progress);

/// Tries remedies until one passes and appends them to `report.gate.attempts`. Without `options.automatic`, no file is
/// written whatever the result, and no remedy is started after three minutes. With it, only the number of remedies is
/// limited, so that the same input gives the same file on every machine. Returns the file that passed, and its report.
std::optional<Produced> find_remedy(const ConvertOptions& options, const Graph& graph, Gate& gate, Report& report);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_REMEDIES_H_
