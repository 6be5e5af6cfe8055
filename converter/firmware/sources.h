// The files of bantam that a project needs for its model.
#ifndef BANTAM_CONVERTER_FIRMWARE_SOURCES_H_
#define BANTAM_CONVERTER_FIRMWARE_SOURCES_H_

#include <string>
#include <vector>

#include "firmware/linked.h"
#include "firmware/resources.h"
#include "firmware/target.h"
#include "firmware/tree.h"

namespace bantam::firmware {

/// Where what is generated of the schema lies among resources.
constexpr std::string_view kGenerated = "generated/bantam_generated.h";

/// The runtime's sources for a core and a model, LICENSE, and `roots`, each with all that it includes, by path among resources. Files
/// are as Conditions::resolve leaves them. Of the runtime's sources these are there: those that the rows of ops.inc name for the
/// model's operators; X.cpp where something includes X.h beside it; and all others that conditions leave something of.
Tree project_sources(const Target& target, const Linked& linked, const std::vector<std::string>& roots);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_SOURCES_H_
