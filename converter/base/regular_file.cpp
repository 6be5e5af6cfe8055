#include "base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fail.h"

namespace bantam::convert {

RegularFile::RegularFile(const std::filesystem::path& path) : path_(path.string()) {
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int why = errno;
  if (descriptor_ < 0 && (why == ENOENT || why == ENOTDIR)) {
    fail(ExitCode::kIo, "{}: no such file", path.string());
  }
  if (descriptor_ < 0 && why == EACCES) {
    fail(ExitCode::kIo, "{}: cannot be opened: {}; check its permissions", path.string(), std::strerror(why));
  }
  struct stat status = {};
  const bool known = descriptor_ >= 0 && fstat(descriptor_, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
    return;
  }
  if (descriptor_ >= 0) {
    why = errno;
    close(descriptor_);
  }
  if (known || why == ENXIO) fail(ExitCode::kIo, "{}: is not a regular file", path.string());  // ENXIO: a socket
  fail(ExitCode::kIo, "{}: cannot be opened: {}", path.string(), std::strerror(why));
}

RegularFile::~RegularFile() { close(descriptor_); }

size_t RegularFile::read(void* out, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor_, static_cast<char*>(out) + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ExitCode::kIo, "{}: cannot be read: {}", path_, std::strerror(errno));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

void RegularFile::read_all(uint64_t begin, void* out, size_t size) {
  const bool sought = lseek(descriptor_, static_cast<off_t>(begin), SEEK_SET) >= 0;
  if (!sought || read(out, size) != size) fail(ExitCode::kIo, "{}: ended while it was read", path_);
}

}  // namespace bantam::convert
