// ResumableFile: a long output that another process can resume after the first one was killed.
#ifndef BANTAM_CONVERTER_BASE_RESUMABLE_FILE_H_
#define BANTAM_CONVERTER_BASE_RESUMABLE_FILE_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace bantam::convert {

/// Writes PATH.part, records its progress in PATH.state, and renames the part to PATH at the end. Follows symbolic
/// links as OutputFile does. Writes directly to anything that is not a regular file (a device, a pipe, "-"), which
/// cannot be resumed. Resuming cuts off the bytes after the last recorded position and writes them again, so that a
/// process may be killed at any time. Throws Error (I/O, out of space; usage if the part belongs to another run).
class ResumableFile {
 public:
  /// The work done so far, for the caller.
  struct Progress {
    uint64_t records = 0;
    uint64_t failed = 0;
    uint64_t bytes = 0;
  };

  /// `key` identifies everything that the content depends on; a part with another key is not resumed. `resume`:
  /// continue an existing part. Without `resume` an existing part is an error. A part that another process is writing
  /// is always an error.
  ResumableFile(const std::filesystem::path& path, const std::string& key, bool resume);
  ~ResumableFile();
  ResumableFile(const ResumableFile&) = delete;
  ResumableFile& operator=(const ResumableFile&) = delete;

  /// Returns true if PATH itself exists already and is complete (only with `resume`).
  bool is_done() const { return done_; }
  const Progress& progress() const { return progress_; }

  /// Appends the results of `records` more records, `failed` of which have no answer.
  void append(std::string_view bytes, uint64_t records, uint64_t failed);
  void commit();

 private:
  void open_part(bool begun, bool resume);
  void mark();
  void cut_to_mark();
  [[noreturn]] void fail_io(const char* action, int cause) const;

  std::filesystem::path path_, part_, state_;
  std::string key_;
  Progress progress_;
  int64_t marked_ = 0;  // time of the last mark in milliseconds
  int descriptor_ = -1;
  bool done_ = false;
  bool streams_ = false;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_RESUMABLE_FILE_H_
