// Directory: what lies in a folder. Each folder is listed once and each file read at most once, so that a conversion
// sees one state of a model, and asks the file system only once whether a file is there.
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

/// Names are relative to the root and may have folders in front ("1_Pooling/config.json", "../config.json"). Links
/// count as what they lead to; a link that leads nowhere is not there. For one thread at a time: const functions fill
/// the caches.
class Directory {
 public:
  /// Lists nothing yet, and the folder need not be there.
  explicit Directory(std::filesystem::path root) : root_(std::move(root)) {}
  /// A folder in which nothing lies, whatever is on the disk: of models in memory, and of files that hold a whole
  /// model.
  static std::shared_ptr<const Directory> nothing(std::filesystem::path root = {});
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  /// The path of a name; "": the root's.
  std::filesystem::path path(const std::string& name) const;
  /// Why the root could not be listed; no error: it was.
  std::error_code error() const;

  /// Is a file or a folder of that name there?
  bool has(const std::string& name) const;
  /// Is a regular file of that name there?
  bool has_file(const std::string& name) const;
  /// What lies in a folder ("": the root), sorted; empty where that cannot be listed.
  std::vector<std::string> names(const std::string& folder = "") const;

  /// A file's document, and the same that is an object ({...}). Throws Error as read_text_file, parse_json and
  /// read_json_object do, each time the same.
  const Json& json(const std::string& name) const;
  const Json& object(const std::string& name) const;
  /// The object, or an empty one where nothing of that name is there.
  const Json& object_or_empty(const std::string& name) const;
  /// A file's bytes. Throws Error as read_text_file does.
  const std::string& text(const std::string& name, uint64_t max_bytes = kMaxJsonBytes) const;
  /// The first bytes of a file, kBegin at most; "" where no regular file is there, or it cannot be read.
  std::string_view begin(const std::string& name) const;
  static constexpr size_t kBegin = 4096;

  /// Digest of a file: of the bytes that json() or text() read, else of those that lie there now. Throws Error (kIo).
  std::string sha256(const std::string& name) const;

  /// All documents that were read, by their names.
  std::map<std::string, const Json*> documents() const;

 private:
  enum class Kind { kNothing, kFile, kOther, kUnknown };  // unknown: a link, or what the listing does not tell
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
  /// Bytes of a file, whose digest is kept.
  std::string contents(const std::string& name, uint64_t max_bytes) const;

  std::filesystem::path root_;
  bool nothing_ = false;
  // By normal names ("a/b" for "a//b" and "./a/b").
  mutable std::map<std::string, Listing> listings_;
  mutable std::map<std::string, Document> documents_;
  mutable std::map<std::string, std::string> texts_, begins_, digests_;
};

/// A name of what lies in a folder of a Directory; `folder` "": in its root.
std::string name_in(const std::string& folder, const std::string& name);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_DIRECTORY_H_
