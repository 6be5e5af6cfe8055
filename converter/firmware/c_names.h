// Names that C's preprocessor accepts.
#ifndef BANTAM_CONVERTER_FIRMWARE_C_NAMES_H_
#define BANTAM_CONVERTER_FIRMWARE_C_NAMES_H_

#include <string>

namespace bantam::firmware {

inline std::string capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

/// Returns the include guard of a file: "BANTAM_CONFIG_H_" for "bantam_config.h".
inline std::string guard_of(const std::string& file_name) {
  std::string guard = capitals(file_name);
  for (char& c : guard) {
    if ((c < 'A' || c > 'Z') && (c < '0' || c > '9')) c = '_';
  }
  return guard + "_";
}

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_C_NAMES_H_
