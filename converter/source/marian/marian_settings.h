// Settings of Marian: the part of YAML that it writes, a value or a list a key.
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
  /// `where`: what problems call them. Lines that are neither `key: value` nor `- item` are left out.
  MarianSettings(std::string_view text, std::string where);

  bool has(const std::string& key) const { return values_.count(key) != 0; }
  /// The first value, or `otherwise` where there is none.
  std::string text(const std::string& key, const std::string& otherwise) const;
  /// A whole number from 1 to `most`, or `otherwise`; another one is added to the problems. 1 after a problem.
  uint32_t count(const std::string& key, uint32_t most, uint32_t otherwise, Problems* problems) const;
  double number(const std::string& key, double otherwise) const;
  std::vector<std::string> list(const std::string& key) const;
  const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::map<std::string, std::vector<std::string>> values_;
};

/// Adds a problem for each setting of the model that changes it in a way that the family `marian_ssru` does not have.
void check_marian(const MarianSettings& settings, Problems* problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_MARIAN_SETTINGS_H_
