#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bantam/host.h"

namespace bantam::host {
namespace {

/// What an empty file's data() points to.
alignas(64) constexpr uint8_t kNothing[64] = {};

Status fail(const char* why, const char** reason) {
  if (reason != nullptr) *reason = why;
  return Status::kIo;
}

}  // namespace

Status MappedFile::open(const char* path, const char** reason) {
  close();
  const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return fail(std::strerror(errno), reason);
  struct stat status = {};
  const char* why = nullptr;
  if (::fstat(descriptor, &status) != 0) {
    why = std::strerror(errno);
  } else if (S_ISDIR(status.st_mode)) {
    why = "Is a directory";
  } else if (!S_ISREG(status.st_mode)) {
    why = "Is not a regular file";
  } else if (status.st_size == 0) {
    data_ = kNothing;
  } else if (static_cast<uint64_t>(status.st_size) > PTRDIFF_MAX) {  // in a 32-bit process
    why = "Is larger than memory can be";
  } else {
    const auto size = static_cast<size_t>(status.st_size);
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED) {
      why = std::strerror(errno);
    } else {
      data_ = static_cast<const uint8_t*>(mapped);
      size_ = size;
    }
  }
  ::close(descriptor);
  return why == nullptr ? Status::kOk : fail(why, reason);
}

void MappedFile::close() {
  if (size_ > 0) ::munmap(const_cast<uint8_t*>(data_), size_);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace bantam::host
