// Buffers that detect writes and, with an operating system, reads beyond their ends.
#ifndef BANTAM_TESTS_KERNELS_GUARDED_H_
#define BANTAM_TESTS_KERNELS_GUARDED_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

// 1 if pages can be made inaccessible.
#if defined(BANTAM_FIRMWARE) || defined(__wasm__)
#define BANTAM_TEST_PAGES 0
#else
#define BANTAM_TEST_PAGES 1
#endif

#if BANTAM_TEST_PAGES
#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <stdexcept>
#endif

namespace bantam::kernels::test {

/// Bytes filled with kFill; the end of the buffer is a multiple of 64.
class Guarded {
 public:
  static constexpr uint8_t kFill = 0xa5;

  explicit Guarded(size_t bytes = 0) : bytes_(bytes) {
    allocate();
    if (bytes != 0) std::memset(data_, kFill, bytes);
  }
  ~Guarded() { release(); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  Guarded(Guarded&& other) noexcept : Guarded(0) { swap(other); }
  Guarded& operator=(Guarded&& other) noexcept {
    swap(other);
    return *this;
  }

  size_t size() const { return bytes_; }
  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
#if !BANTAM_TEST_PAGES
  // 64 bytes on both sides hold a pattern that is checked at the end.
  static constexpr size_t kFence = 64;
  static constexpr uint8_t kFencePattern = 0x5c;

  void allocate() {
    mapped_ = bytes_ + 3 * kFence;
    base_ = static_cast<uint8_t*>(std::malloc(mapped_));
    if (base_ == nullptr) std::abort();
    std::memset(base_, kFencePattern, mapped_);
    const uintptr_t end = (reinterpret_cast<uintptr_t>(base_) + bytes_ + 2 * kFence - 1) / kFence * kFence;
    data_ = base_ + (end - reinterpret_cast<uintptr_t>(base_)) - bytes_;
  }
  void release() {
    for (const uint8_t* p = base_; p != data_; ++p) {
      if (*p != kFencePattern) std::abort();
    }
    for (const uint8_t* p = data_ + bytes_; p != base_ + mapped_; ++p) {
      if (*p != kFencePattern) std::abort();
    }
    std::free(base_);
  }
#else
  // The last byte is directly before an inaccessible page, and another inaccessible page precedes the first page.
  void allocate() {
    constexpr size_t kPage = 65536;  // a multiple of every system's
    mapped_ = (bytes_ + kPage - 1) / kPage * kPage + 2 * kPage;
    base_ = static_cast<uint8_t*>(reserve(mapped_));
    if (base_ == nullptr || (mapped_ > 2 * kPage && !make_accessible(base_ + kPage, mapped_ - 2 * kPage))) {
      throw std::runtime_error("no pages");
    }
    data_ = base_ + mapped_ - kPage - bytes_;
  }
#if defined(_WIN32)
  static void* reserve(size_t size) { return VirtualAlloc(nullptr, size, MEM_RESERVE, PAGE_NOACCESS); }
  static bool make_accessible(void* pages, size_t size) {
    return VirtualAlloc(pages, size, MEM_COMMIT, PAGE_READWRITE) != nullptr;
  }
  void release() { VirtualFree(base_, 0, MEM_RELEASE); }
#else
  static void* reserve(size_t size) {
    void* base = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return base == MAP_FAILED ? nullptr : base;
  }
  static bool make_accessible(void* pages, size_t size) { return mprotect(pages, size, PROT_READ | PROT_WRITE) == 0; }
  void release() { munmap(base_, mapped_); }
#endif
#endif

  void swap(Guarded& other) {
    std::swap(base_, other.base_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
  }

  uint8_t* base_ = nullptr;
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
  size_t mapped_ = 0;
};

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_GUARDED_H_
