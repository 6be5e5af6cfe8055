// Checks that there is enough memory before each step of a request.
#ifndef BANTAM_CONVERTER_SERVE_ROOM_H_
#define BANTAM_CONVERTER_SERVE_ROOM_H_

#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/memory_reserve.h"

namespace bantam::serve {

/// Memory besides that of a step: for other threads, and for replies that report the lack of memory.
constexpr size_t kSpareBytes = size_t{16} << 20;

/// Throws std::bad_alloc if there may be too little memory for a step of `bytes`. Failing here is safe, because nothing
/// is half done: destructors of nlohmann's values allocate memory themselves, and if that fails the process ends.
inline void require_room(size_t bytes) {
  convert::keep_memory_reserve();
  void* const room = std::malloc(bytes + kSpareBytes);
  if (room == nullptr) throw std::bad_alloc();
  std::free(room);
}

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_ROOM_H_
