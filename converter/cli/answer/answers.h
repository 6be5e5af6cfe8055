// Predictions as text for people. run/answer_json.h writes them as JSON.
#ifndef BANTAM_CONVERTER_CLI_ANSWERS_H_
#define BANTAM_CONVERTER_CLI_ANSWERS_H_

#include "cli/answer/run.h"
#include "cli/frame/output.h"
#include "run/answer_json.h"
#include "run/predict.h"

namespace bantam::cli {

using convert::label_name;
using convert::put_answer;
using convert::put_choices;
using convert::raw_outputs;
using convert::require_answer;
using convert::slice;

/// Prints the content of put_answer for a person. `heading`: print the text above its answer.
void print_answer(const Predictor& predictor, const Input& input, const Prediction& prediction, PositionUnit unit,
                  bool heading);

/// Prints the answer of multiple choice for a person.
void print_choices(const std::string& prompt, const std::vector<std::string>& choices, const Prediction& prediction,
                   bool heading);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_ANSWERS_H_
