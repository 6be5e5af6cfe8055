// Sizes of memory, which are smaller than file sizes on 32-bit machines.
#ifndef BANTAM_CONVERTER_BASE_SIZE_H_
#define BANTAM_CONVERTER_BASE_SIZE_H_

#include <cstddef>
#include <cstdint>
#include <new>

namespace bantam::convert {

/// Converts `count`, a number of elements of `bytes` each, to size_t. Throws std::bad_alloc if no object can be that
/// large.
inline size_t in_memory(uint64_t count, size_t bytes = 1) {
  if (count > static_cast<uint64_t>(PTRDIFF_MAX) / bytes) throw std::bad_alloc();
  return static_cast<size_t>(count);
}

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_SIZE_H_
