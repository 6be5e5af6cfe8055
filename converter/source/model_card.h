// Model card: information about the model in a directory's README.md.
#ifndef BANTAM_CONVERTER_SOURCE_MODEL_CARD_H_
#define BANTAM_CONVERTER_SOURCE_MODEL_CARD_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/directory.h"

namespace bantam::convert {

/// Maximum length of a description in bytes.
inline constexpr size_t kMaxDescription = 400;

struct ModelCard {
  std::string name;         // front matter `model_name`, else the first heading
  std::string licence;      // front matter `license`
  std::string description;  // first paragraph of prose, at most 400 bytes
  /// Other front-matter fields that are stored in the file: language, datasets, base_model; lists are joined by ", ".
  std::map<std::string, std::string> fields;
};

/// Parses the subset of YAML that model cards use: `key: value`, `key: [a, b]`, and "- item" lists. Never fails: it
/// skips what it does not understand.
ModelCard parse_model_card(std::string_view text);

inline constexpr const char* kCardFile = "README.md";

/// Reads the card in a folder of `files`; all members are empty if README.md does not exist or cannot be read.
ModelCard read_model_card(const Directory& files, const std::string& folder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_MODEL_CARD_H_
