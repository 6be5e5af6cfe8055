// ResumableFile: a long output that a killed process has begun and another one goes on with.
#ifndef BANTAM_CONVERTER_BASE_RESUMABLE_FILE_H_
#define BANTAM_CONVERTER_BASE_RESUMABLE_FILE_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace bantam::convert {

/// Writes PATH.part, says in PATH.state how far that is, and renames it to PATH at the end, where OutputFile would write too: behind
/// symbolic links, and at once into what is no regular file (a device, a pipe, "-"), which cannot be resumed. What stands behind the last such mark is
/// cut off and made again, so that a process may be killed at any time. Errors: Error (I/O, out of space; usage where somebody
/// else's beginning is there).
class ResumableFile {
 public:
  /// What has been done so far, for the caller.
  struct Progress {
    uint64_t records = 0;
    uint64_t failed = 0;
    uint64_t bytes = 0;
  };

  /// `key`: of all that the content depends on; a beginning with another key is not gone on with. `resume`: go on with what is there,
  /// if anything is; else a beginning that is there is an error, and what another process writes always is.
  ResumableFile(const std::filesystem::path& path, const std::string& key, bool resume);
  ~ResumableFile();
  ResumableFile(const ResumableFile&) = delete;
  ResumableFile& operator=(const ResumableFile&) = delete;

  /// PATH itself is there already, whole (with `resume` alone).
  bool is_done() const { return done_; }
  const Progress& progress() const { return progress_; }

  /// Appends what became of `records` records more, of which `failed` had no answer.
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
  int64_t marked_ = 0;  // milliseconds of the clock
  int descriptor_ = -1;
  bool done_ = false;
  bool streams_ = false;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_RESUMABLE_FILE_H_
