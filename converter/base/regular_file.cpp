#include "base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fail.h"

namespace bantam::convert {

RegularFile::RegularFile(const std::filesystem::path& path) {
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const int why = errno;
  if (descriptor_ < 0 && (why == ENOENT || why == ENOTDIR)) {
    fail(ExitCode::kIo, "{}: no such file", path.string());
  }
  if (descriptor_ < 0 && why == EACCES) {
    fail(ExitCode::kIo, "{}: cannot be opened: {}; check its permissions", path.string(), std::strerror(why));
  }
  struct stat status = {};
  if (descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
    return;
  }
  const bool opened = descriptor_ >= 0;
  if (opened) close(descriptor_);
  if (opened || why == ENXIO) fail(ExitCode::kIo, "{}: is not a regular file", path.string());  // ENXIO: a socket
  fail(ExitCode::kIo, "{}: cannot be opened: {}", path.string(), std::strerror(why));
}

RegularFile::~RegularFile() { close(descriptor_); }

size_t RegularFile::read(void* out, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor_, static_cast<char*>(out) + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace bantam::convert
