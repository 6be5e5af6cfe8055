// Common includes and macros of all files under kernels/generic. A translation unit compiles these headers for one
// instruction set: it defines BANTAM_KERNEL_NAMESPACE (e.g. avx2), includes that set's vector types, then
// generic/table.h. All code is in that namespace, so that no two instruction sets share a symbol that the linker could
// merge.
#ifndef BANTAM_KERNELS_GENERIC_CONFIG_H_
#define BANTAM_KERNELS_GENERIC_CONFIG_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/kernels.h"

#ifndef BANTAM_KERNEL_NAMESPACE
#error "define BANTAM_KERNEL_NAMESPACE before including a kernel header"
#endif

// The reference table is the fallback for old machines: it is built to be small, the others to be fast.
#define BANTAM_NOINLINE __attribute__((noinline))
// For a single operation: shorter than a call, or the body of a loop over all values.
#define BANTAM_TINY inline __attribute__((always_inline))
// Unrolls the next loop, whose count is a constant up to 16, so that arrays of accumulators become registers.
#if defined(__clang__)
#define BANTAM_UNROLL_ALWAYS _Pragma("unroll")
#else
#define BANTAM_UNROLL_ALWAYS _Pragma("GCC unroll 16")
#endif
#if defined(BANTAM_KERNEL_SMALL)
#define BANTAM_INLINE inline
#define BANTAM_UNROLL
#else
#define BANTAM_INLINE inline __attribute__((always_inline))
#define BANTAM_UNROLL BANTAM_UNROLL_ALWAYS
#endif

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

BANTAM_INLINE void prefetch(const void* p) { __builtin_prefetch(p, 0, 2); }
/// Into the first-level cache: for data that is read once, and soon.
BANTAM_INLINE void prefetch_near(const void* p) { __builtin_prefetch(p, 0, 3); }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_CONFIG_H_
