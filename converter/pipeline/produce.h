// Makes the file itself, from a source to its bytes, with everything that is calibrated on texts.
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

/// `source` comes from read_source with the same options; its parts, except `graph`, move into the report. Throws
/// Error.
Produced produce(ConvertOptions options, ConvertSource& source);

/// Returns true if second moments of layers' inputs are measured: for --rounding gptq and --prune-by activations.
bool wants_moments(const ConvertOptions& options);

/// The number of tokens of sessions that calibrate and compare: the model's own limit, at most 512; longer texts show
/// nothing new.
uint32_t session_tokens(const fb::ModelT& model);

/// The largest number of calibration texts, evenly spread over the file: more texts barely change any scale.
constexpr size_t kCalibrationTexts = 1024;

/// Makes one sample per text in which the tokenizer finds a token; without a tokenizer or such a text, always the same
/// pseudo-random ids.
std::vector<Sample> make_samples(Runner& runner, uint32_t max_tokens, const std::vector<std::string>& texts);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_PRODUCE_H_
