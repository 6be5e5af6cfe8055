// Selects the files of bantam that a project needs for its model.
#ifndef BANTAM_CONVERTER_FIRMWARE_SOURCES_H_
#define BANTAM_CONVERTER_FIRMWARE_SOURCES_H_

#include <string>
#include <vector>

#include "firmware/linked.h"
#include "firmware/resources.h"
#include "firmware/target.h"
#include "firmware/tree.h"

namespace bantam::firmware {

/// The path among the resources of the header that flatc generates from the schema.
constexpr std::string_view kGenerated = "generated/bantam_generated.h";

/// Returns the runtime's sources for a core and a model, LICENSE, and `roots`, each with everything that it includes,
/// by path among the resources. Files are as Conditions::resolve leaves them. The runtime's sources are those that the
/// rows of ops.inc name for the model's operators; X.cpp if something includes X.h beside it; and all other sources
/// that are not empty after resolving the conditions.
Tree project_sources(const Target& target, const Linked& linked, const std::vector<std::string>& roots);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_SOURCES_H_
