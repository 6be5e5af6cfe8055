// Directories of two models, one of texts and one of images, whose vectors lie in one space (CLIP, arXiv 2103.00020; SigLIP,
// arXiv 2303.15343).
#ifndef BANTAM_CONVERTER_SOURCE_TOWERS_H_
#define BANTAM_CONVERTER_SOURCE_TOWERS_H_

#include <string>

#include "base/json_file.h"

namespace bantam::convert {

/// Does config.json describe both towers?
bool has_towers(const Json& config);

/// The settings of the tower called "text" or "vision", as transformers writes them for that tower alone, of a config.json of both. Throws Error (usage) where
/// `tower` names none, which says how to choose; (invalid) where config.json lacks its settings.
Json tower_settings(const Json& config, const std::string& tower);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_TOWERS_H_
