// Generates bantam_config.h, the single configuration header of a project or library. It replaces compiler options: it
// states how the runtime is built for a core, which parts of it the model needs, the session's options and the arena.
#ifndef BANTAM_CONVERTER_FIRMWARE_CONFIG_H_
#define BANTAM_CONVERTER_FIRMWARE_CONFIG_H_

#include <string>
#include <string_view>

#include "firmware/project.h"

namespace bantam::firmware {

constexpr const char* kConfigName = "bantam_config.h";

/// How rounding of each product and each sum is ensured (no contraction): by build options, as in firmware.cmake, or by
/// a #pragma in the header, with which GCC generates 0.6 % more code.
enum class Rounding { kByOption, kByPragma };

/// Returns the header for a project's core and model. `name`: the header's file name, which it includes where the
/// runtime asks what is linked.
std::string config_header(const Project& project, const std::string& name, Rounding rounding);

/// Returns a runtime file in its form for projects, from its path among the resources and its remaining text
/// (sources.h). Sources include bantam_config.h before everything else; only the reading half of flatc's header is
/// kept.
std::string runtime_file(std::string_view path, const std::string& text);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_CONFIG_H_
