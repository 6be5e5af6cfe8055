// FileBytes: a .bantam file in memory, aligned so that the runtime can read it in place.
#ifndef BANTAM_CONVERTER_FORMAT_FILE_BYTES_H_
#define BANTAM_CONVERTER_FORMAT_FILE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

#include "base/scratch_memory.h"

namespace bantam::convert {

/// Aligns memory to 64 bytes, which the runtime requires to read files in place.
template <typename T>
struct FileAllocator {
  using value_type = T;
  FileAllocator() = default;
  /// `in_file`: large blocks are in a temporary file, for files that are run once.
  explicit FileAllocator(bool in_file) : scratch(in_file) {}
  template <typename U>
  FileAllocator(const FileAllocator<U>& other)  // NOLINT(google-explicit-constructor): containers convert allocators
      : scratch(other.scratch) {}
  T* allocate(size_t n) {
    if (in_scratch(n)) return static_cast<T*>(scratch_memory(n * sizeof(T)));
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* p, size_t n) {
    if (in_scratch(n)) return free_scratch_memory(p, n * sizeof(T));
    ::operator delete (p, std::align_val_t{64});
  }
  bool in_scratch(size_t n) const { return scratch && n * sizeof(T) >= kScratchBytes; }
  template <typename U>
  bool operator==(const FileAllocator<U>& other) const {
    return scratch == other.scratch;
  }
  template <typename U>
  bool operator!=(const FileAllocator<U>& other) const {
    return scratch != other.scratch;
  }
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  static constexpr size_t kScratchBytes = size_t{32} << 20;
  bool scratch = false;
};
using FileBytes = std::vector<uint8_t, FileAllocator<uint8_t>>;

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_FILE_BYTES_H_
