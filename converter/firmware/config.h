// bantam_config.h, the one configuration header of a project and of a library: how the runtime is built for a core, what of it the model
// needs, the session's options and the arena. In place of options of the compiler.
#ifndef BANTAM_CONVERTER_FIRMWARE_CONFIG_H_
#define BANTAM_CONVERTER_FIRMWARE_CONFIG_H_

#include <string>
#include <string_view>

#include "firmware/project.h"

namespace bantam::firmware {

constexpr const char* kConfigName = "bantam_config.h";

/// Who sees to it that each product and each sum is rounded: options of the build, as firmware.cmake's; or a #pragma in the header, which GCC
/// pays with 0.6 % of code.
enum class Rounding { kByOption, kByPragma };

/// The header, for a project's core and model. `name`: of its file, which it includes where the runtime asks what is linked.
std::string config_header(const Project& project, const std::string& name, Rounding rounding);

/// A file of the runtime as projects have it, from its path among resources and what is left of it (sources.h): sources with
/// bantam_config.h in front of all else, of flatc's header what reads files.
std::string runtime_file(std::string_view path, const std::string& text);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_CONFIG_H_
