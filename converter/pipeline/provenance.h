// Records in a file how it was made.
#ifndef BANTAM_CONVERTER_PIPELINE_PROVENANCE_H_
#define BANTAM_CONVERTER_PIPELINE_PROVENANCE_H_

#include <string>

#include "pipeline/convert.h"

namespace bantam::convert {

/// Adds a property to the file.
void record(Graph& graph, const char* key, std::string value);

/// Returns every option that affects the file's bytes and differs from its default, as NAME=VALUE separated by blanks,
/// and always the type of the weights. Input files are listed by their SHA-256. A student's layout and a budget have
/// their own properties. Throws Error (I/O) for a file that cannot be read.
std::string recipe_of(const ConvertOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PIPELINE_PROVENANCE_H_
