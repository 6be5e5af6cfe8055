// Model card: what a directory's README.md says about the model.
#ifndef BANTAM_CONVERTER_SOURCE_MODEL_CARD_H_
#define BANTAM_CONVERTER_SOURCE_MODEL_CARD_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/directory.h"

namespace bantam::convert {

/// Bytes that are kept of a description.
inline constexpr size_t kMaxDescription = 400;

struct ModelCard {
  std::string name;         // front matter `model_name`, else the first heading
  std::string licence;      // front matter `license`
  std::string description;  // first paragraph of prose, at most 400 bytes
  /// Further front-matter fields that go into the file: language, datasets, base_model; lists joined by ", ".
  std::map<std::string, std::string> fields;
};

/// Understands the part of YAML that model cards use: `key: value`, `key: [a, b]`, and "- item" lists.
/// Never fails: what it does not understand it leaves out.
ModelCard parse_model_card(std::string_view text);

inline constexpr const char* kCardFile = "README.md";

/// Card of README.md in a folder of `files`; all empty where there is none, or it cannot be read.
ModelCard read_model_card(const Directory& files, const std::string& folder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_MODEL_CARD_H_
