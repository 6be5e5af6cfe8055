// What to do about a file that the gate refuses: options that pass, found by trying them, cheapest first.
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
  std::string words;  // as they are typed, added to the options that were given
  ConvertOptions options;
};

/// In the order in which they are worth trying: what costs no bytes (rounding, another calibration, an f32 residual), then what
/// costs few. Between these two come `keeps`, made by keep_lists.
std::vector<Remedy> free_remedies(const ConvertOptions& refused);
std::vector<Remedy> costly_remedies(const ConvertOptions& refused);

/// The matrices whose quantisation costs most for the bytes that it saves, alone measured on `texts`, in the next wider type:
/// the first, the first two, four, eight and sixteen of them. Empty where types are not the cause.
std::vector<Remedy> keep_lists(const ConvertOptions& refused, const Graph& graph,
                               const std::vector<LabelledText>& texts, const std::function<void(double)>& progress);

/// Tries remedies until one passes; appends what was tried to `report.gate.attempts`. Without `options.automatic` none is
/// started after three minutes: then nothing is written whatever comes out. With it only their number is bounded, so that
/// the same input gives the same file on every machine. The file that passed, and its report.
std::optional<Produced> find_remedy(const ConvertOptions& options, const Graph& graph, Gate& gate, Report& report);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_REMEDIES_H_
