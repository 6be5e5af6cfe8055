#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bantam/host.h"

namespace bantam::host {
namespace {

/// data() of an empty file points to these bytes.
alignas(64) constexpr uint8_t kNothing[64] = {};

Status fail(const char* why, const char** reason) {
  if (reason != nullptr) *reason = why;
  return Status::kIo;
}

/// Reads the open file into new memory at `out`. Returns null, or the reason of the failure.
const char* read_whole(int descriptor, size_t size, void* out) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = ::pread(descriptor, static_cast<uint8_t*>(out) + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::strerror(errno);
    if (got == 0) return "Ended while it was read";
    done += static_cast<size_t>(got);
  }
  return ::mprotect(out, size, PROT_READ) == 0 ? nullptr : std::strerror(errno);
}

}  // namespace

Status MappedFile::load(const char* path, How how, const char** reason) {
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
    void* memory = how == How::kMap ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
                                    : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      why = std::strerror(errno);
    } else {
      data_ = static_cast<const uint8_t*>(memory);
      size_ = size;
      if (how == How::kRead) why = read_whole(descriptor, size, memory);
    }
  }
  ::close(descriptor);
  if (why == nullptr) return Status::kOk;
  close();
  return fail(why, reason);
}

Status MappedFile::open(const char* path, const char** reason) { return load(path, How::kMap, reason); }

Status MappedFile::read(const char* path, const char** reason) { return load(path, How::kRead, reason); }

void MappedFile::close() {
  if (size_ > 0) ::munmap(const_cast<uint8_t*>(data_), size_);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace bantam::host
