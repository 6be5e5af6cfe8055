// The tables of `inspect`: operators, constant tensors, memory plan; as JSON and as rows of text.
#ifndef BANTAM_CONVERTER_CLI_INSPECT_TABLES_H_
#define BANTAM_CONVERTER_CLI_INSPECT_TABLES_H_

#include <string>
#include <vector>

#include "bantam/model.h"
#include "cli/frame/output.h"

namespace bantam::cli {

/// Elements of all constant tensors, shared ones once.
uint64_t parameter_count(const Model& model);

using Table = std::vector<std::vector<std::string>>;  // first row: header

Json ops_json(const Model& model);
Json tensors_json(const Model& model);
Json plan_json(const Model& model);

/// The same as rows of text, made from the JSON: one walk over the file for both.
Table ops_table(const Model& model);
Table tensors_table(const Model& model);
Table plan_table(const Model& model);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_INSPECT_TABLES_H_
