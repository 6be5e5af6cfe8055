// The file itself: from a source to its bytes, with everything that is calibrated on texts.
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

/// `source`: what read_source made of the same options; its parts move into the report, but for `graph`. Throws Error.
Produced produce(ConvertOptions options, ConvertSource& source);

/// Whether second moments of layers' inputs are measured: for --rounding gptq and --prune-by activations.
bool wants_moments(const ConvertOptions& options);

/// Of sessions that calibrate and compare: the model's own limit, at most 512; longer texts show nothing new.
uint32_t session_tokens(const fb::ModelT& model);

/// At most so many texts, evenly spread over the file, calibrate: more change no scale worth naming.
constexpr size_t kCalibrationTexts = 1024;

/// One sample a text in which the tokenizer finds a token; without a tokenizer or such a text the same pseudo-random ids always.
std::vector<Sample> make_samples(Runner& runner, uint32_t max_tokens, const std::vector<std::string>& texts);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_PRODUCE_H_
