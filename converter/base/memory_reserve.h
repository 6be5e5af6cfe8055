// A memory reserve that lets a process end in an orderly way when memory runs out.
#ifndef BANTAM_CONVERTER_BASE_MEMORY_RESERVE_H_
#define BANTAM_CONVERTER_BASE_MEMORY_RESERVE_H_

namespace bantam::convert {

/// Allocates a reserve of 1 MB, unless the process has one. operator new returns it to the system before it fails, so
/// that stack unwinding finds memory: destructors of nlohmann's JSON allocate and must not throw. Throws std::bad_alloc
/// if the reserve cannot be allocated. Programs call this, libraries do not: a process has only one std::new_handler.
void keep_memory_reserve();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_MEMORY_RESERVE_H_
