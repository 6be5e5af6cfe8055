// A file's settings of generating, for inspect.
#ifndef BANTAM_CONVERTER_CLI_INSPECT_GENERATION_H_
#define BANTAM_CONVERTER_CLI_INSPECT_GENERATION_H_

#include <string>
#include <utility>
#include <vector>

#include "bantam/model.h"
#include "cli/frame/output.h"

namespace bantam::cli {

/// Adds those of "source" (of encoder-decoders), "chunks", "generations", "languages", "chat" and "shortlist" that the
/// file has.
void add_generation(const Model& model, Json* object);

/// The settings in words, as pairs of a line's subject and the line.
std::vector<std::pair<std::string, std::string>> generation_lines(const Model& model);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_INSPECT_GENERATION_H_
