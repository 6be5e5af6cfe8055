// Memory for when there is none.
#ifndef BANTAM_CONVERTER_BASE_MEMORY_RESERVE_H_
#define BANTAM_CONVERTER_BASE_MEMORY_RESERVE_H_

namespace bantam::convert {

/// From the first call on the process holds a reserve, which operator new gives back to the system before it fails: what then ends has
/// memory to end with. (Destructors of nlohmann's JSON allocate, and may not throw.) Takes the reserve anew where it is gone; throws
/// std::bad_alloc where that is not possible. For programs, not for libraries: a process has one std::new_handler.
void keep_memory_reserve();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_MEMORY_RESERVE_H_
