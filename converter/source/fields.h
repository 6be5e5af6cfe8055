// Fields: typed access to a configuration object that collects problems instead of stopping at the first.
#ifndef BANTAM_CONVERTER_SOURCE_FIELDS_H_
#define BANTAM_CONVERTER_SOURCE_FIELDS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json_file.h"

namespace bantam::convert {

/// Paths of the keys that were read: "vocab_size", "rope_parameters.rope_theta", "layers[].width".
using KeyReads = std::set<std::string>;

/// A view of one JSON object; `json` and `problems` must outlive it. A key that is absent or null counts as not set.
class Fields {
 public:
  /// Problems call the object `file` ("config.json"). Every key that is read is added to `reads`, if given, which must
  /// outlive the view and the views created from it.
  Fields(const Json& json, std::string file, Problems& problems, KeyReads* reads = nullptr)
      : Fields(json, std::move(file), problems, reads, "") {}

  /// Returns true if the key exists and is not null.
  bool has(const std::string& key) const;
  /// Returns true if the key exists, even as null.
  bool stands(const std::string& key) const { return asked(key).is_object() && json_.contains(key); }
  const Json& raw(const std::string& key) const { return asked(key).at(key); }
  const Json& whole() const { return json_; }

  /// A count in [1, max]; a missing one without `otherwise` is a problem. Returns 1 after a problem.
  uint32_t count(const std::string& key, uint32_t max, std::optional<uint32_t> otherwise = std::nullopt) const;
  double number(const std::string& key, double otherwise) const;
  bool flag(const std::string& key, bool otherwise) const;
  std::string text(const std::string& key, const std::string& otherwise) const;

  /// A view of the object under `key`, called "FILE: KEY".
  Fields inside(const std::string& key) const {
    return {asked(key).at(key), file_ + ": " + key, problems_, reads_, path_ + key + "."};
  }

  /// A view of object `i` in the list under `key`, called "FILE: KEY[i]".
  Fields inside(const std::string& key, size_t i) const {
    const std::string name = file_ + ": " + key + "[" + std::to_string(i) + "]";
    return {asked(key).at(key).at(i), name, problems_, reads_, path_ + key + "[]."};
  }

  /// A view of another object, called "FILE: NAME", with the same list of problems. `other` must outlive it.
  Fields of(const Json& other, const std::string& name) const {
    return {other, file_ + ": " + name, problems_, reads_, path_};
  }

  /// A view of another object under the same name; `other` must outlive it.
  Fields with(const Json& other) const { return {other, file_, problems_, reads_, path_}; }

  /// The set that records the keys read; null if there is none.
  KeyReads* reads() const { return reads_; }

  /// Adds "FILE: KEY: why".
  void problem(ExitCode code, const std::string& key, const std::string& why) const;
  /// Throws the problems so far, if any.
  void raise() const { problems_.raise(); }

 private:
  Fields(const Json& json, std::string file, Problems& problems, KeyReads* reads, std::string path)
      : json_(json), file_(std::move(file)), problems_(problems), reads_(reads), path_(std::move(path)) {}

  /// Returns the object, and records that `key` is read.
  const Json& asked(const std::string& key) const {
    if (reads_ != nullptr) reads_->insert(path_ + key);
    return json_;
  }

  const Json& json_;
  std::string file_;
  Problems& problems_;
  KeyReads* reads_;
  std::string path_;  // prefix of the object's keys
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_FIELDS_H_
