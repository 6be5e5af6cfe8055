#include "base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

void sync_directory(const fs::path& directory) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);  // best effort: some file systems cannot
  close(descriptor);
}

}  // namespace

void OutputFile::fail(const char* action, int cause) const {
  const bool full = cause == ENOSPC || cause == EDQUOT || cause == EFBIG;
  throw Error(full ? ExitCode::kOutOfSpace : ExitCode::kIo,
              fmt::format("{}: {}: {}; {}", shown_.string(), action, std::strerror(cause),
                          full ? "free some space or choose another place" : "choose a writable place with -o"));
}

OutputFile::OutputFile(const fs::path& path) : shown_(path), target_(path) {
  std::error_code ignored;
  if (path.empty()) throw Error(ExitCode::kUsage, "-o: the output's name is empty");
  if (fs::is_symlink(path, ignored)) target_ = fs::weakly_canonical(path, ignored);
  const fs::file_status status = fs::status(target_, ignored);
  if (fs::is_directory(status)) fail("cannot write", EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot open", errno);
    return;
  }
  if (fs::exists(status) && access(target_.c_str(), W_OK) != 0) fail("cannot replace", errno);
  // The process id keeps two conversions apart; a left-over of a killed process with the same id is replaced.
  const fs::path beside = parent_of(target_) / fmt::format(".{}.{}.part", target_.filename().string(), getpid());
  unlink(beside.c_str());
  descriptor_ = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("cannot create", errno);
  temporary_ = beside.string();
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::write_all(const void* bytes, size_t size) {
  const auto* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = write(descriptor_, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", errno);
    next += written;
    size -= static_cast<size_t>(written);
  }
}

void OutputFile::commit(const void* bytes, size_t size) {
  // In one piece: Linux then keeps the file in large pieces of its cache, which map ten times as fast.
  write_all(bytes, size);
  if (!temporary_.empty() && fsync(descriptor_) != 0) fail("cannot flush to the disk", errno);
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("cannot close", errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot rename", errno);
  temporary_.clear();
  sync_directory(parent_of(target_));
}

void refuse_input_as_output(const fs::path& output, const std::vector<fs::path>& inputs) {
  std::error_code ignored;
  const auto refuse = [&](const fs::path& input) {
    throw Error(ExitCode::kUsage,
                fmt::format("-o {}: that is an input ({}); choose another name", output.string(), input.string()));
  };
  for (const fs::path& input : inputs) {
    if (input.empty()) continue;
    if (fs::equivalent(output, input, ignored)) refuse(input);
    if (!fs::is_directory(input, ignored)) continue;
    for (const auto& entry :
         fs::recursive_directory_iterator(input, fs::directory_options::skip_permission_denied, ignored)) {
      if (entry.path().extension() == ".bantam") continue;  // never read: replacing an earlier result is fine
      if (fs::equivalent(output, entry.path(), ignored)) refuse(entry.path());
    }
  }
}

}  // namespace bantam::convert
