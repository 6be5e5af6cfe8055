// Predictions as JSON objects and as text for people.
#ifndef BANTAM_CONVERTER_CLI_ANSWERS_H_
#define BANTAM_CONVERTER_CLI_ANSWERS_H_

#include "cli/output.h"
#include "cli/run.h"
#include "run/predict.h"

namespace bantam::cli {

using convert::label_name;

/// The part of a text; "" where the span does not lie in it.
std::string slice(const std::string& text, Offset span);

/// Throws (kInvalid) where a text cannot have an answer: fill without a mask. To be called before the two below.
void require_answer(const Predictor& predictor, const Input& input, const Prediction& prediction);

/// The fields of one answer, added to `object` (which has its "schema"): the shapes that --json promises, schemas/json/.
/// `unit`: of "start" and "end".
void put_answer(const Predictor& predictor, const Input& input, const Prediction& prediction, PositionUnit unit,
                Json* object);

/// The same for a person. `heading`: print the text above its answer.
void print_answer(const Predictor& predictor, const Input& input, const Prediction& prediction, PositionUnit unit,
                  bool heading);

/// Multiple choice.
void put_choices(const std::string& prompt, const std::vector<std::string>& choices, const Prediction& prediction,
                 Json* object);
void print_choices(const std::string& prompt, const std::vector<std::string>& choices, const Prediction& prediction,
                   bool heading);

/// {"name": {"shape": [...], "data": [...]}} of every output of the last run, for one sequence (or all of them, as a
/// multiple-choice model sees them).
Json raw_outputs(const Session& session, uint32_t sequence);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_ANSWERS_H_
