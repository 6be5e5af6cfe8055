#include "tests/fuzz/limits.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#if defined(BANTAM_SANITIZED)
#include <sanitizer/allocator_interface.h>
#endif

namespace {

/// The cost that every input may have: golden models, tables of the build, and two arenas of a session.
constexpr size_t kAnyBytes = size_t{256} << 20;
constexpr double kAnySeconds = 10;
/// A byte of JSON, `{}`, may become several hundred bytes in memory; ten times that is an attack.
constexpr size_t kBytesPerByte = 2000;
/// Sanitizers are ten times slower.
constexpr double kSecondsPerByte = 50e-6;

// Signed, because memory that was allocated before counting began may be freed.
std::atomic<int64_t> live{0};
std::atomic<int64_t> most{0};

void add(size_t bytes) {
  const int64_t now = live += static_cast<int64_t>(bytes);
  for (int64_t before = most; now > before && !most.compare_exchange_weak(before, now);) {
  }
}

#if defined(BANTAM_SANITIZED)

// The sanitizer's operators check that new and delete match, so they stay in use and report to these hooks.
void allocated(const volatile void* block, size_t) {
  add(__sanitizer_get_allocated_size(const_cast<const void*>(block)));
}
void freed(const volatile void* block) {
  if (block != nullptr) live -= static_cast<int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(block)));
}
[[maybe_unused]] const int installed = __sanitizer_install_malloc_and_free_hooks(allocated, freed);

}  // namespace

#else

void* counted(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  add(malloc_usable_size(block));
  return block;
}

void release(void* block) {
  if (block == nullptr) return;
  live -= static_cast<int64_t>(malloc_usable_size(block));
  std::free(block);
}

void* aligned(size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<size_t>(alignment);
  return counted(std::aligned_alloc(unit, (std::max<size_t>(size, 1) + unit - 1) / unit * unit));
}

}  // namespace

void* operator new(size_t size) { return counted(std::malloc(std::max<size_t>(size, 1))); }
void* operator new[](size_t size) { return counted(std::malloc(std::max<size_t>(size, 1))); }
void* operator new(size_t size, std::align_val_t alignment) { return aligned(size, alignment); }
void* operator new[](size_t size, std::align_val_t alignment) { return aligned(size, alignment); }
void operator delete(void* block) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete(void* block, size_t) noexcept { release(block); }
void operator delete[](void* block, size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { release(block); }

#endif

namespace bantam::fuzz {

Limits::Limits(size_t size) : size_(size), start_(std::clock()) { most = live.load(); }

Limits::~Limits() {
  const double seconds = static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
  if (most > static_cast<int64_t>(kAnyBytes + kBytesPerByte * size_)) {
    std::fprintf(stderr, "limits: %zu bytes of input took %lld bytes of memory\n", size_,
                 static_cast<long long>(most.load()));
    std::abort();
  }
  if (seconds > kAnySeconds + kSecondsPerByte * static_cast<double>(size_)) {
    std::fprintf(stderr, "limits: %zu bytes of input took %.1f s\n", size_, seconds);
    std::abort();
  }
}

}  // namespace bantam::fuzz
