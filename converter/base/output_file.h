// OutputFile: a file that appears whole or not at all.
#ifndef BANTAM_CONVERTER_BASE_OUTPUT_FILE_H_
#define BANTAM_CONVERTER_BASE_OUTPUT_FILE_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// Reserves a temporary file beside `path` when constructed (so that an unwritable place is an error before
/// the work, not after it), and renames it to `path` once everything is on the disk. Without commit() the
/// temporary file is removed. Something at `path` that is no regular file (a device, a pipe) is written to
/// directly. A symbolic link is followed, also one that leads to nothing yet. Temporary files for the same `path` whose
/// process was killed are removed. Errors: Error with kIo, or kOutOfSpace when the disk or quota is full.
class OutputFile {
 public:
  /// `program`: it may be started, by whom it may be read.
  explicit OutputFile(const std::filesystem::path& path, bool program = false);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Writes everything, flushes it to the disk and gives it its name. Once.
  void commit(const void* bytes, size_t size);
  /// The same of several pieces, one after the other.
  void commit(const std::vector<std::string_view>& pieces);

  /// Empty when there is none (a device). unlink_temporaries() removes it.
  const std::string& temporary() const { return temporary_; }

 private:
  [[noreturn]] void fail(const char* action, int cause) const;
  void write_all(const void* bytes, size_t size);

  std::filesystem::path shown_;   // as the user wrote it
  std::filesystem::path target_;  // symbolic links followed
  std::string temporary_;
  int descriptor_ = -1;  // locked: whoever finds the temporary file unlocked knows that nobody will finish it
};

/// Removes the temporary files of all OutputFiles that are open, for a process that is about to end; may be called in a
/// signal's handler.
void unlink_temporaries();

/// Throws Error (usage) when `output` is one of `inputs` or lies, under the same name, in a directory among
/// them.
void refuse_input_as_output(const std::filesystem::path& output, const std::vector<std::filesystem::path>& inputs);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_OUTPUT_FILE_H_
