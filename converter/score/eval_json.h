// Scores and answers as JSON: what `bantam eval` prints and writes.
#ifndef BANTAM_CONVERTER_SCORE_EVAL_JSON_H_
#define BANTAM_CONVERTER_SCORE_EVAL_JSON_H_

#include <string>

#include "base/ordered_json.h"
#include "score/eval_details.h"
#include "score/eval_run.h"

namespace bantam::convert {

/// Metrics by their names; those that count something are integers.
OrderedJson metrics_json(const Metrics& metrics);

/// Adds "labels", "confusion" and "entities", each where there is one.
void put_details(const EvalDetails& details, OrderedJson* object);

/// Returns one object per line for each example: the answers of the data and of the file.
std::string prediction_lines(const Dataset& data, const Outcome& outcome);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_EVAL_JSON_H_
