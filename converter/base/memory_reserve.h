// A reserve of memory that a process uses to end when there is no other.
#ifndef BANTAM_CONVERTER_BASE_MEMORY_RESERVE_H_
#define BANTAM_CONVERTER_BASE_MEMORY_RESERVE_H_

namespace bantam::convert {

/// Takes a reserve of 1 MB, unless the process has one. operator new gives it back to the system before it fails, so that
/// code which unwinds finds memory: destructors of nlohmann's JSON allocate, and may not throw. Throws std::bad_alloc where
/// the reserve cannot be taken. Programs call it, libraries do not: a process has one std::new_handler.
void keep_memory_reserve();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_MEMORY_RESERVE_H_
