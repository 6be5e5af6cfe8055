// The random calls of the kernel tests (tests/kernels/*_cases.h) without an operating system: compares the build's best
// table with the reference, byte for byte, and prints a hash of the reference's results, which is the same on every
// machine. The input is the number of seeds. Only the host compares with naive mathematics
// (tests/kernels/kernels_test.cpp).
#include <stdlib.h>

#include "console.h"
#include "kernels/tables.h"
#include "tests/kernels/align_cases.h"
#include "tests/kernels/attention_cases.h"
#include "tests/kernels/feature_cases.h"
#include "tests/kernels/row_cases.h"
#include "tests/kernels/span_cases.h"
#include "tests/kernels/static_attention_cases.h"
#include "tests/kernels/static_linear_cases.h"
#include "tests/kernels/static_row_cases.h"

namespace bantam::kernels::test {
namespace {

using bantam::test::put;

template <class Args>
void check_kernel(const char* name, uint64_t salt, uint32_t seeds) {
  bantam::test::Hash hash;
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    Case<Args> c(salt * 1000003 + seed);
    const Result expected = c.run(reference::kTable);
    const Result got = c.run(*table(Isa::kAuto));
    EXPECT_EQ(got.finite, expected.finite);
    if (!expected.finite) continue;
    EXPECT_TRUE(got.bytes == expected.bytes);
    if (got.bytes != expected.bytes) {
      put(name);
      put(" differs at seed ");
      bantam::test::put_number(seed);
      put("\n");
    }
    hash.add(expected.bytes.data(), expected.bytes.size());
  }
  put(name);
  put(" ");
  bantam::test::put_hex(hash.value());
  put("\n");
}

}  // namespace
}  // namespace bantam::kernels::test

int main() {
  const uint32_t seeds = bantam::test::get_number();
#define BANTAM_KERNEL(name, Args) \
  bantam::kernels::test::check_kernel<bantam::kernels::Args>(#name, sizeof(#name), seeds);
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL
  bantam::test::put_number(testing::failures);
  bantam::test::put(" failures\n");
  return testing::failures == 0 ? 0 : 1;
}

#if defined(BANTAM_FIRMWARE)
// std::vector needs a heap, which is the rest of RAM. Only this image has one.
#include "system.h"

extern "C" {

extern uint8_t ram_used[];

// Marked as used, because link-time optimization does not see that the C library calls it.
[[gnu::used]] void* _sbrk(ptrdiff_t bytes) {
  static uint8_t* end = ram_used;
  uint8_t* const limit = reinterpret_cast<uint8_t*>(ram_begin) + reinterpret_cast<uintptr_t>(ram_bytes);
  if (bytes > limit - end) return reinterpret_cast<void*>(-1);
  uint8_t* const begin = end;
  end += bytes;
  return begin;
}

[[gnu::used]] void abort() {
  bantam::test::put("aborted: memory used up, or written outside a buffer\n");
  board_exit(1);
}

}  // extern "C"

void* operator new(size_t size) {
  void* p = malloc(size);
  if (p == nullptr) abort();
  return p;
}
void operator delete(void* p) noexcept { free(p); }
void operator delete(void* p, size_t) noexcept { free(p); }
namespace std {
void __throw_length_error(const char*) { abort(); }
void __throw_bad_alloc() { abort(); }
void __throw_bad_array_new_length() { abort(); }
}  // namespace std
#endif
