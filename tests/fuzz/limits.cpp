#include "tests/fuzz/limits.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

/// What every input may cost: golden models, tables of the build, a session's arena twice.
constexpr size_t kAnyBytes = size_t{256} << 20;
constexpr double kAnySeconds = 10;
/// A byte of JSON, `{}`, becomes some hundred bytes in memory; ten times that and more is an amplifier.
constexpr size_t kBytesPerByte = 2000;
/// Sanitizers cost a factor of ten.
constexpr double kSecondsPerByte = 50e-6;

std::atomic<size_t> live{0};
std::atomic<size_t> most{0};

void* counted(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  const size_t now = live += malloc_usable_size(block);
  for (size_t before = most; now > before && !most.compare_exchange_weak(before, now);) {
  }
  return block;
}

void release(void* block) {
  if (block == nullptr) return;
  live -= malloc_usable_size(block);
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

namespace bantam::fuzz {

Limits::Limits(size_t size) : size_(size), start_(std::clock()) { most = live.load(); }

Limits::~Limits() {
  const double seconds = static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
  if (most > kAnyBytes + kBytesPerByte * size_) {
    std::fprintf(stderr, "limits: %zu bytes of input took %zu bytes of memory\n", size_, most.load());
    std::abort();
  }
  if (seconds > kAnySeconds + kSecondsPerByte * static_cast<double>(size_)) {
    std::fprintf(stderr, "limits: %zu bytes of input took %.1f s\n", size_, seconds);
    std::abort();
  }
}

}  // namespace bantam::fuzz
