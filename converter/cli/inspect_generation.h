// What a file says of generating, for inspect.
#ifndef BANTAM_CONVERTER_CLI_INSPECT_GENERATION_H_
#define BANTAM_CONVERTER_CLI_INSPECT_GENERATION_H_

#include <string>
#include <utility>
#include <vector>

#include "bantam/model.h"
#include "cli/frame/output.h"

namespace bantam::cli {

/// Adds what the file has of: "source" (of encoder-decoders), "generations", "languages", "chat".
void add_generation(const Model& model, Json* object);

/// The same in words: what a line is of, and the line.
std::vector<std::pair<std::string, std::string>> generation_lines(const Model& model);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_INSPECT_GENERATION_H_
