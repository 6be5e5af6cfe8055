// Memory that the system may write out, because it is that of an unnamed temporary file; and mapped pages that nobody needs for now.
#ifndef BANTAM_CONVERTER_BASE_SCRATCH_MEMORY_H_
#define BANTAM_CONVERTER_BASE_SCRATCH_MEMORY_H_

#include <cstddef>

namespace bantam::convert {

/// `bytes` of zeros, at a page's boundary. The file lies in $TMPDIR or /var/tmp; without room there it is memory like any other.
/// Throws std::bad_alloc.
void* scratch_memory(size_t bytes);
void free_scratch_memory(void* memory, size_t bytes);

/// Whole pages within these bytes, which are mapped from a file, leave this process's memory until they are read again. What was written to
/// scratch memory stays.
void let_go(const void* mapped, size_t bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_SCRATCH_MEMORY_H_
