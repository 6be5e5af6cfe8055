// OutputFile, OutputFolder: a file and a folder that appear whole or not at all.
#ifndef BANTAM_CONVERTER_BASE_OUTPUT_FILE_H_
#define BANTAM_CONVERTER_BASE_OUTPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// The place that bytes for a path go to, after all symbolic links; the last link may lead to nothing yet.
struct OutputPlace {
  std::filesystem::path file;  // a regular file, or nothing yet
  int stream = -1;             // else the open descriptor of a device, a pipe or, for "-", standard output
};

/// Throws Error (usage, I/O) at once for a directory and for a path that cannot be replaced or opened.
OutputPlace output_place(const std::filesystem::path& path);

/// Returns true if an output called "-" has taken standard output. Commands then print everything else to standard
/// error.
bool standard_output_is_taken();

/// Writes all bytes. Returns errno if that fails, else 0.
int write_all(int descriptor, const void* bytes, size_t size);

/// Returns true if `cause` is a full disk, an exceeded quota or the limit on file sizes.
bool is_out_of_space(int cause);

/// Reserves a temporary file beside `path` when constructed (so that an unwritable place is an error before the work,
/// not after it), and renames it to `path` once everything is on the disk. Without commit() the temporary file is
/// removed. If `path` is not a regular file (a device, a pipe), writes to it directly. Temporary files for the same
/// `path` whose process was killed are removed. Errors: Error with kIo, or kOutOfSpace when the disk or quota is full.
class OutputFile {
 public:
  enum class Kind : uint8_t {
    kData,
    kProgram,  // may be started, by whom it may be read
    kSecret,   // nobody but its owner may read it
    kOwn,      // of a name that bantam chose: whatever lies there is replaced, and no link of that name is followed
  };
  explicit OutputFile(const std::filesystem::path& path, Kind kind = Kind::kData);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Writes everything, flushes it to the disk and gives it its name. Once.
  void commit(const void* bytes, size_t size);
  /// Commits several pieces, one after the other.
  void commit(const std::vector<std::string_view>& pieces);

  /// The name of the temporary file; empty if there is none (a device). unlink_temporaries() removes the file.
  const std::string& temporary() const { return temporary_; }

 private:
  [[noreturn]] void fail(const char* action, int cause) const;

  std::filesystem::path shown_;   // as the user wrote it
  std::filesystem::path target_;  // symbolic links followed
  std::string temporary_;
  int descriptor_ = -1;  // locked: whoever finds the temporary file unlocked knows that nobody will finish it
};

/// A folder that appears whole or not at all: commit() renames path() and its content to `path`, which must be absent or
/// empty. Without a commit the destructor removes both.
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
  int descriptor_ = -1;  // locked, as that of an OutputFile
};

/// Removes the temporary files of all OutputFiles that are open, for a process that is about to end; may be called in a
/// signal's handler.
void unlink_temporaries();

/// Throws Error (usage) when `output` is one of `inputs` or lies, under the same name, in a directory among
/// them.
void refuse_input_as_output(const std::filesystem::path& output, const std::vector<std::filesystem::path>& inputs);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_OUTPUT_FILE_H_
