// Directory: a cached view of a folder. It lists each folder once and reads each file at most once, so that a
// conversion sees one consistent state of a model.
#ifndef BANTAM_CONVERTER_BASE_DIRECTORY_H_
#define BANTAM_CONVERTER_BASE_DIRECTORY_H_

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"

namespace bantam::convert {

/// Names are relative to the root and may contain folders ("1_Pooling/config.json", "../config.json"). Links count as
/// their targets; a dangling link does not exist. Not thread-safe: const functions fill the caches.
class Directory {
 public:
  /// Lists nothing yet; the folder need not exist.
  explicit Directory(std::filesystem::path root) : root_(std::move(root)) {}
  /// Returns an empty folder, whatever is on the disk: for models in memory, and for files that hold a whole model.
  static std::shared_ptr<const Directory> nothing(std::filesystem::path root = {});
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  /// The path of a name; "" means the root.
  std::filesystem::path path(const std::string& name) const;
  /// The reason why the root could not be listed; empty if it was listed.
  std::error_code error() const;

  /// Returns true if a file or a folder of that name exists.
  bool has(const std::string& name) const;
  /// Returns true if a regular file of that name exists.
  bool has_file(const std::string& name) const;
  /// The names in a folder ("": the root), sorted; empty if the folder cannot be listed.
  std::vector<std::string> names(const std::string& folder = "") const;

  /// json() returns a file's JSON document; object() also requires that it is an object ({...}). They throw Error as
  /// read_text_file, parse_json and read_json_object do, and repeat the same error at each call.
  const Json& json(const std::string& name) const;
  const Json& object(const std::string& name) const;
  /// The object, or an empty one if no file of that name exists.
  const Json& object_or_empty(const std::string& name) const;
  /// Returns a file's bytes. Throws Error as read_text_file does.
  const std::string& text(const std::string& name, uint64_t max_bytes = kMaxJsonBytes) const;
  /// Returns the first bytes of a file, kBegin at most; "" if it is no regular file or cannot be read.
  std::string_view begin(const std::string& name) const;
  static constexpr size_t kBegin = 4096;

  /// Digest of a file: of the bytes that json() or text() has read, else of the bytes that are on the disk now. Throws
  /// Error (kIo).
  std::string sha256(const std::string& name) const;

  /// All documents read so far, by name.
  std::map<std::string, const Json*> documents() const;

 private:
  /// kUnknown: a link, or an entry whose type the listing does not contain.
  enum class Kind { kNothing, kFile, kOther, kUnknown };
  struct Listing {
    std::error_code error;
    std::map<std::string, Kind> entries;
  };
  struct Document {
    Json json;
    std::optional<Error> error;
  };
  Listing& listing(const std::string& folder) const;
  Kind kind(const std::string& name) const;
  /// Reads the bytes of a file and caches their digest.
  std::string contents(const std::string& name, uint64_t max_bytes) const;

  std::filesystem::path root_;
  bool nothing_ = false;
  // The keys are normalized names ("a/b" for "a//b" and "./a/b").
  mutable std::map<std::string, Listing> listings_;
  mutable std::map<std::string, Document> documents_;
  mutable std::map<std::string, std::string> texts_, begins_, digests_;
};

/// Joins `folder` of a Directory ("": its root) and the name of an entry in it.
std::string name_in(const std::string& folder, const std::string& name);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_DIRECTORY_H_
