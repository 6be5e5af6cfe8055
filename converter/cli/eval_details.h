// The details that eval reports beside its totals: scores of each label, and of each example.
#ifndef BANTAM_CONVERTER_CLI_EVAL_DETAILS_H_
#define BANTAM_CONVERTER_CLI_EVAL_DETAILS_H_

#include <string>

#include "cli/frame/output.h"
#include "score/eval_details.h"

namespace bantam::cli {

/// Adds "labels", "confusion" and "entities", each where there is one.
void put_details(const convert::EvalDetails& details, Json* object);
void print_details(const convert::EvalDetails& details);

/// Returns one object per line for each example: the answers of the data and of the file.
std::string prediction_lines(const convert::Dataset& data, const convert::Outcome& outcome);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_EVAL_DETAILS_H_
