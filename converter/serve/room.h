// Is there memory for what comes next? Asked between steps of a request, before anything of the step is made.
#ifndef BANTAM_CONVERTER_SERVE_ROOM_H_
#define BANTAM_CONVERTER_SERVE_ROOM_H_

#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/memory_reserve.h"

namespace bantam::serve {

/// Beside a step's own bytes: what other threads take meanwhile, and the replies that say that there is no memory.
constexpr size_t kSpareBytes = size_t{16} << 20;

/// Throws std::bad_alloc where a step of `bytes` could find no memory. It is to fail here, where nothing is half made: destructors of
/// nlohmann's values take memory themselves, and one that finds none ends the process.
inline void require_room(size_t bytes) {
  convert::keep_memory_reserve();
  void* const room = std::malloc(bytes + kSpareBytes);
  if (room == nullptr) throw std::bad_alloc();
  std::free(room);
}

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_ROOM_H_
