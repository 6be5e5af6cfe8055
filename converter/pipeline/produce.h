// Makes the bytes of a file from a source, including everything that is calibrated on texts.
#ifndef BANTAM_CONVERTER_PIPELINE_PRODUCE_H_
#define BANTAM_CONVERTER_PIPELINE_PRODUCE_H_

#include <string>
#include <vector>

#include "pipeline/convert.h"
#include "pipeline/source.h"
#include "run/runner.h"

namespace bantam::convert {

struct Produced {
  Built built;
  Report report;  // without comparisons
};

/// `source` must come from read_source with the same options; its parts, except `graph`, move into the report. Throws
/// Error.
Produced produce(ConvertOptions options, ConvertSource& source);

/// Returns true if second moments of the layers' inputs must be measured: for --rounding gptq and --prune-by
/// activations.
bool wants_moments(const ConvertOptions& options);

/// Returns the number of tokens of sessions for calibration and comparison: the model's limit, at most 512, because
/// longer texts add no information.
uint32_t session_tokens(const fb::ModelT& model);

/// The largest number of calibration texts, evenly spread over the file: more texts barely change any scale.
constexpr size_t kCalibrationTexts = 1024;

/// Makes one sample per text in which the tokenizer finds a token. Without a tokenizer or such a text, makes samples of
/// pseudo-random ids, the same in every run.
std::vector<Sample> make_samples(Runner& runner, uint32_t max_tokens, const std::vector<std::string>& texts);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_PRODUCE_H_
