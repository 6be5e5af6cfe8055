// Predictions as JSON, in the forms that schemas/json/ specifies for --json and `bantam serve`.
#ifndef BANTAM_CONVERTER_RUN_ANSWER_JSON_H_
#define BANTAM_CONVERTER_RUN_ANSWER_JSON_H_

#include <string>
#include <vector>

#include "base/ordered_json.h"
#include "base/text_positions.h"
#include "run/predict.h"

namespace bantam::convert {

/// Returns the span of a text; "" if the span is not inside the text.
std::string slice(const std::string& text, Offset span);

/// Throws (kInvalid) if the text cannot have an answer, such as fill without a mask. Call it before put_answer.
void require_answer(const Predictor& predictor, const Input& input, const Prediction& prediction);

/// Adds the fields of one answer to `object`, which already has its "schema". `unit`: the unit of "start" and "end".
void put_answer(const Predictor& predictor, const Input& input, const Prediction& prediction, PositionUnit unit,
                OrderedJson* object);

/// Adds the answer of multiple choice.
void put_choices(const std::string& prompt, const std::vector<std::string>& choices, const Prediction& prediction,
                 OrderedJson* object);

/// Returns {"name": {"shape": [...], "data": [...]}} for every output of the last run, for one sequence; for
/// multiple-choice models, for all sequences.
OrderedJson raw_outputs(const Session& session, uint32_t sequence);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_ANSWER_JSON_H_
