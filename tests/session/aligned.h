/* Memory aligned to 64 bytes, in C. */
#ifndef BANTAM_TESTS_SESSION_ALIGNED_H_
#define BANTAM_TESTS_SESSION_ALIGNED_H_

#include <stddef.h>
#include <stdlib.h>

#if defined(_WIN32)
#include <malloc.h>
static inline void* aligned(size_t size) { return _aligned_malloc(size, 64); }
static inline void free_aligned(void* block) { _aligned_free(block); }
#else
static inline void* aligned(size_t size) {
  void* block = NULL;
  return posix_memalign(&block, 64, size) == 0 ? block : NULL;
}
static inline void free_aligned(void* block) { free(block); }
#endif

#endif /* BANTAM_TESTS_SESSION_ALIGNED_H_ */
