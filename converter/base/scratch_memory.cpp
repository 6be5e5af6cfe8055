#include "base/scratch_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

namespace bantam::convert {
namespace {

/// Opens an unnamed file with `bytes` allocated on the disk; returns -1 if that fails.
int unnamed_file(size_t bytes) {
  const char* chosen = std::getenv("TMPDIR");
  std::string path = std::string(chosen == nullptr || *chosen == 0 ? "/var/tmp" : chosen) + "/bantam-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) return -1;
  ::unlink(path.c_str());
  // Writing to a sparse file through a mapping would kill the process when the disk is full.
  if (::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

}  // namespace

void* scratch_memory(size_t bytes) {
  const int descriptor = unnamed_file(bytes);
  const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (descriptor >= 0) ::close(descriptor);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void free_scratch_memory(void* memory, size_t bytes) { ::munmap(memory, bytes); }

void let_go(const void* mapped, size_t bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(mapped) + page - 1) / page * page;
  const auto end = (reinterpret_cast<uintptr_t>(mapped) + bytes) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace bantam::convert
