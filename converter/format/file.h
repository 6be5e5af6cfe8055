// A .bantam file as bytes in memory: put together from its parts, judged as the runtime judges it.
#ifndef BANTAM_CONVERTER_FORMAT_FILE_H_
#define BANTAM_CONVERTER_FORMAT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "bantam_generated.h"

namespace bantam::convert {

/// The runtime reads files in place and wants them at 64-byte boundaries.
template <typename T>
struct FileAllocator {
  using value_type = T;
  FileAllocator() = default;
  template <typename U>
  FileAllocator(const FileAllocator<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert
  T* allocate(size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* p, size_t) { ::operator delete (p, std::align_val_t{64}); }
  template <typename U>
  bool operator==(const FileAllocator<U>&) const {
    return true;
  }
  template <typename U>
  bool operator!=(const FileAllocator<U>&) const {
    return false;
  }
};
using FileBytes = std::vector<uint8_t, FileAllocator<uint8_t>>;

/// Header, `model` and the data section that its blobs lie in, with both checksums. The same input gives the same bytes.
FileBytes assemble_file(const fb::ModelT& model, const std::vector<uint8_t>& data);

/// Opens `bytes` with Model::open. Throws Error (internal, or unsupported) with the fault when that refuses them.
void check_file(const FileBytes& bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_FILE_H_
