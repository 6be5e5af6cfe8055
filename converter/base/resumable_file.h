// ResumableFile: a long output that another process can resume after the first one was killed.
#ifndef BANTAM_CONVERTER_BASE_RESUMABLE_FILE_H_
#define BANTAM_CONVERTER_BASE_RESUMABLE_FILE_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bantam::convert {

/// Writes PATH.part, records its progress in PATH.state, and renames the part to PATH at the end. Follows symbolic
/// links as OutputFile does. Writes directly to anything that is not a regular file (a device, a pipe, "-"), which
/// cannot be resumed. Resuming cuts off the bytes after the last recorded position and writes them again, so that a
/// process may be killed at any time. A run that ends before its first record leaves nothing. Throws Error (I/O, out of
/// space; usage if the part belongs to another run).
class ResumableFile {
 public:
  /// Names, in the words of messages, and values of what the content depends on, such as {"--top", "5"}.
  using Key = std::vector<std::pair<std::string, std::string>>;

  /// The work done so far, for the caller.
  struct Progress {
    uint64_t records = 0;
    uint64_t failed = 0;
    uint64_t bytes = 0;
    std::string read;  // digest of the records, for the caller to compare
  };

  /// A part with another `key` is not resumed; the error names what differs. `resume`: continue an existing part.
  /// Without `resume` an existing part that is not empty is an error. A part that another process is writing is always
  /// an error.
  ResumableFile(const std::filesystem::path& path, Key key, bool resume);
  ~ResumableFile();
  ResumableFile(const ResumableFile&) = delete;
  ResumableFile& operator=(const ResumableFile&) = delete;

  /// Returns true if PATH itself exists already and is complete (only with `resume`).
  bool is_done() const { return done_; }
  const Progress& progress() const { return progress_; }
  /// Returns false for a device, a pipe or "-".
  bool is_resumable() const { return !streams_; }

  /// Appends the results of `records` more records, `failed` of which have no answer. `read`: the digest of all records
  /// so far.
  void append(std::string_view bytes, uint64_t records, uint64_t failed, const std::string& read);
  /// Throws Error (usage): the part is that of another run, of which `what` differs.
  [[noreturn]] void refuse(const std::string& what) const;
  /// Records the progress now, and not only once a second: for a run that is about to end with an error.
  void mark();
  void commit();

 private:
  void open_part(bool begun, bool resume);
  void cut_to_mark();
  [[noreturn]] void fail_io(const char* action, int cause) const;

  std::filesystem::path path_, part_, state_;
  Key key_;
  Progress progress_;
  int64_t marked_ = 0;  // time of the last mark in milliseconds
  int descriptor_ = -1;
  bool done_ = false;
  bool streams_ = false;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_RESUMABLE_FILE_H_
