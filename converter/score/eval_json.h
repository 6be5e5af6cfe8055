// Scores and answers as JSON, as `bantam eval` prints and writes them.
#ifndef BANTAM_CONVERTER_SCORE_EVAL_JSON_H_
#define BANTAM_CONVERTER_SCORE_EVAL_JSON_H_

#include <string>

#include "base/ordered_json.h"
#include "score/eval_details.h"
#include "score/eval_run.h"

namespace bantam::convert {

/// Returns the metrics by name; counts are integers.
OrderedJson metrics_json(const Metrics& metrics);

/// Adds those of "labels", "confusion" and "entities" that exist.
void put_details(const EvalDetails& details, OrderedJson* object);

/// Returns one line with an object for each example: the answers of the data and of the file.
std::string prediction_lines(const Dataset& data, const Outcome& outcome);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_EVAL_JSON_H_
