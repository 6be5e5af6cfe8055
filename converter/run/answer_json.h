// Predictions as JSON: the shapes that --json and `bantam serve` promise, schemas/json/.
#ifndef BANTAM_CONVERTER_RUN_ANSWER_JSON_H_
#define BANTAM_CONVERTER_RUN_ANSWER_JSON_H_

#include <string>
#include <vector>

#include "base/ordered_json.h"
#include "base/text_positions.h"
#include "run/predict.h"

namespace bantam::convert {

/// The part of a text; "" where the span does not lie in it.
std::string slice(const std::string& text, Offset span);

/// Throws (kInvalid) where a text cannot have an answer: fill without a mask. To be called before put_answer.
void require_answer(const Predictor& predictor, const Input& input, const Prediction& prediction);

/// The fields of one answer, added to `object` (which has its "schema"). `unit`: of "start" and "end".
void put_answer(const Predictor& predictor, const Input& input, const Prediction& prediction, PositionUnit unit,
                OrderedJson* object);

/// Multiple choice.
void put_choices(const std::string& prompt, const std::vector<std::string>& choices, const Prediction& prediction,
                 OrderedJson* object);

/// {"name": {"shape": [...], "data": [...]}} of every output of the last run, for one sequence (or all of them, as a
/// multiple-choice model sees them).
OrderedJson raw_outputs(const Session& session, uint32_t sequence);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_ANSWER_JSON_H_
