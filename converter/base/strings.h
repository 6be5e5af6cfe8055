// Small string functions that C++17 lacks, and conversion of the runtime's Text to strings.
#ifndef BANTAM_CONVERTER_BASE_STRINGS_H_
#define BANTAM_CONVERTER_BASE_STRINGS_H_

#include <string>
#include <string_view>

#include "bantam/model.h"

namespace bantam::convert {

inline bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
inline bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

inline bool includes(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Empty if `text` has no data.
inline std::string to_string(Text text) { return {text.data == nullptr ? "" : text.data, text.size}; }

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_STRINGS_H_
