// Directories of two models, one for texts and one for images, whose vectors share a space (CLIP, arXiv 2103.00020;
// SigLIP, arXiv 2303.15343).
#ifndef BANTAM_CONVERTER_SOURCE_TOWERS_H_
#define BANTAM_CONVERTER_SOURCE_TOWERS_H_

#include <string>

#include "base/json_file.h"

namespace bantam::convert {

/// Returns true if config.json describes both towers.
bool has_towers(const Json& config);

/// Returns the settings of the tower "text" or "vision" from a config.json of both, in the form that transformers
/// writes for that tower alone. Throws Error: usage, with advice on how to choose, if `tower` names neither; invalid if
/// config.json lacks its settings.
Json tower_settings(const Json& config, const std::string& tower);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_TOWERS_H_
