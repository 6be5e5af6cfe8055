// Marian's settings: the subset of YAML that Marian writes, one value or list per key.
#ifndef BANTAM_CONVERTER_SOURCE_MARIAN_SETTINGS_H_
#define BANTAM_CONVERTER_SOURCE_MARIAN_SETTINGS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace bantam::convert {

class MarianSettings {
 public:
  /// `where`: the name for messages. Ignores lines that are neither `key: value` nor `- item`.
  MarianSettings(std::string_view text, std::string where);

  bool has(const std::string& key) const { return values_.count(key) != 0; }
  /// The first value, or `otherwise` if there is none.
  std::string text(const std::string& key, const std::string& otherwise) const;
  /// An integer from 1 to `most`, or `otherwise` if the key is absent. Any other value adds a problem and returns 1.
  uint32_t count(const std::string& key, uint32_t most, uint32_t otherwise, Problems* problems) const;
  double number(const std::string& key, double otherwise) const;
  std::vector<std::string> list(const std::string& key) const;
  const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::map<std::string, std::vector<std::string>> values_;
};

/// Adds a problem for each setting that the family `marian_ssru` does not support.
void check_marian(const MarianSettings& settings, Problems* problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_MARIAN_SETTINGS_H_
