// Fields: typed reads of a configuration object that record problems instead of stopping at the first.
#ifndef BANTAM_CONVERTER_SOURCE_FIELDS_H_
#define BANTAM_CONVERTER_SOURCE_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json_file.h"

namespace bantam::convert {

/// A view of one JSON object; `json` and `problems` outlive it. A key that is absent or null is not set.
class Fields {
 public:
  /// `file` is what problems call the object ("config.json").
  Fields(const Json& json, std::string file, Problems& problems)
      : json_(json), file_(std::move(file)), problems_(problems) {}

  /// Is it there, and not null?
  bool has(const std::string& key) const;
  /// Is it there, if only as null?
  bool stands(const std::string& key) const { return json_.is_object() && json_.contains(key); }
  const Json& raw(const std::string& key) const { return json_.at(key); }
  const Json& whole() const { return json_; }

  /// A count in [1, max]; a missing one without `otherwise` is a problem. 1 after a problem.
  uint32_t count(const std::string& key, uint32_t max, std::optional<uint32_t> otherwise = std::nullopt) const;
  double number(const std::string& key, double otherwise) const;
  bool flag(const std::string& key, bool otherwise) const;
  std::string text(const std::string& key, const std::string& otherwise) const;

  /// A view of the object under `key`, called "FILE: KEY".
  Fields inside(const std::string& key) const { return {json_.at(key), file_ + ": " + key, problems_}; }

  /// The same of an object in the list under `key`, called "FILE: KEY[i]".
  Fields inside(const std::string& key, size_t i) const {
    return {json_.at(key).at(i), file_ + ": " + key + "[" + std::to_string(i) + "]", problems_};
  }

  /// A view of another object, called "FILE: NAME"; its problems go where this one's do. `other` outlives it.
  Fields of(const Json& other, const std::string& name) const { return {other, file_ + ": " + name, problems_}; }

  /// A view of another object by the same name, which outlives it.
  Fields with(const Json& other) const { return {other, file_, problems_}; }

  /// Adds "FILE: KEY: why".
  void problem(ExitCode code, const std::string& key, const std::string& why) const;
  /// Throws the problems so far, where there are some.
  void raise() const { problems_.raise(); }

 private:
  const Json& json_;
  std::string file_;
  Problems& problems_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_FIELDS_H_
