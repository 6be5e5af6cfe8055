// Memory that the system may write out because it belongs to an unnamed temporary file, and the release of mapped
// pages.
#ifndef BANTAM_CONVERTER_BASE_SCRATCH_MEMORY_H_
#define BANTAM_CONVERTER_BASE_SCRATCH_MEMORY_H_

#include <cstddef>

namespace bantam::convert {

/// Returns `bytes` zero bytes, aligned to a page. The file lies in $TMPDIR or /var/tmp; without room there, the memory
/// is ordinary memory. Throws std::bad_alloc.
void* scratch_memory(size_t bytes);
void free_scratch_memory(void* memory, size_t bytes);

/// Removes the whole pages within these bytes, which are mapped from a file, from this process's memory until they are
/// read again. Data written to scratch memory is kept.
void let_go(const void* mapped, size_t bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_SCRATCH_MEMORY_H_
