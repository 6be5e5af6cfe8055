// OutputFile, OutputFolder: a file and a folder that appear completely or not at all.
#ifndef BANTAM_CONVERTER_BASE_OUTPUT_FILE_H_
#define BANTAM_CONVERTER_BASE_OUTPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace bantam::convert {

/// The target of output to a path, with all symbolic links resolved; the target of the last link need not exist.
struct OutputPlace {
  std::filesystem::path file;  // a regular file, or a path that does not exist yet
  int stream = -1;             // otherwise the open descriptor of a device, a pipe or standard output
};

/// "-" and names of standard output (/dev/stdout) give it. Throws Error (usage, I/O) at once for unusable paths.
OutputPlace output_place(const std::filesystem::path& path);

/// Returns true if an output has taken standard output. Commands then print everything else to standard
/// error.
bool standard_output_is_taken();

/// The reader of an output that is a pipe is gone, as with `head`: commands end without a message.
class ClosedOutput : public Error {
 public:
  explicit ClosedOutput(const std::string& name) : Error(ExitCode::kIo, name + ": its reader is gone") {}
};

/// Writes all bytes. Returns errno if that fails, else 0.
int write_all(int descriptor, const void* bytes, size_t size);

/// Returns true if `cause` is a full disk, an exceeded quota or the limit on file sizes.
bool is_out_of_space(int cause);

/// Reserves a temporary file beside `path` when constructed, so that an unwritable location is an error before the work
/// and not after it. Renames it to `path` once all data is on the disk. Without commit() the temporary file is removed.
/// If `path` is not a regular file (a device, a pipe), writes to it directly. Removes temporary files for the same
/// `path` that killed processes have left. Throws Error (kIo, or kOutOfSpace if the disk or quota is full).
class OutputFile {
 public:
  enum class Kind : uint8_t {
    kData,
    kProgram,  // executable by everyone who may read it
    kSecret,   // readable by its owner only
    kOwn,      // a name that bantam chose: replaces whatever is there, and does not follow a link of that name
  };
  explicit OutputFile(const std::filesystem::path& path, Kind kind = Kind::kData);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Writes all bytes, flushes them to the disk and renames the file to its final name. Call it once.
  void commit(const void* bytes, size_t size);
  /// Commits several pieces, one after the other.
  void commit(const std::vector<std::string_view>& pieces);

  /// The name of the temporary file; empty if there is none (a device). unlink_temporaries() removes the file.
  const std::string& temporary() const { return temporary_; }

 private:
  [[noreturn]] void fail(const char* action, int cause) const;

  std::filesystem::path shown_;   // the path as the user wrote it
  std::filesystem::path target_;  // with symbolic links resolved
  std::string temporary_;
  int descriptor_ = -1;  // locked: an unlocked temporary file has been abandoned by its process
};

/// A folder that appears completely or not at all: commit() renames path() with its content to `path`, which must be
/// absent or empty. Without a commit the destructor removes the temporary folder and its content.
class OutputFolder {
 public:
  explicit OutputFolder(const std::filesystem::path& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void commit();

 private:
  std::filesystem::path shown_, target_, path_;
  int descriptor_ = -1;  // locked like that of an OutputFile
};

/// Removes the temporary files of all open OutputFiles, for a process that is about to end. Safe to call in a signal
/// handler.
void unlink_temporaries();

/// Throws Error (usage) if `output` is one of `inputs`, or lies under the same name in one of the input directories.
void refuse_input_as_output(const std::filesystem::path& output, const std::vector<std::filesystem::path>& inputs);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_OUTPUT_FILE_H_
