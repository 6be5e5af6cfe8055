// linear_q8 on one lane: the sums of all rows and outputs are in y until they are converted to values, so the block
// size of dot products is the one that suits the processor's registers.
#ifndef BANTAM_KERNELS_GENERIC_LINEAR_SUMS_H_
#define BANTAM_KERNELS_GENERIC_LINEAR_SUMS_H_

#include "kernels/generic/linear.h"
#if BANTAM_IF_LINKED(Int4) || BANTAM_IF_LINKED(Ternary) || BANTAM_IF_LINKED(Bitmask)
#include "kernels/generic/unpack.h"
#endif

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

#if BANTAM_IF_LINKED(Int4) || BANTAM_IF_LINKED(Ternary) || BANTAM_IF_LINKED(Bitmask)
/// Unpacks a chunk of a panel at a time to int8.
BANTAM_NOINLINE inline void dot_unpacked(const LinearQ8& a) {
  Unpacker unpacker(a);
  const uint32_t chunk = unpacked_inputs(a.k);
  Sum* sums = reinterpret_cast<Sum*>(a.y);
  for (uint32_t panel = 0; panel < a.n / 16; ++panel, sums += 16) {
    for (uint32_t k = 0; k < a.k; k += chunk) {
      const uint32_t count = a.k - k < chunk ? a.k - k : chunk;
      unpacker.take(panel, k, count, a.scratch);
      dot_block(reinterpret_cast<const int8_t*>(a.x + k),
                {a.x_stride, a.rows, a.scratch, 0, 1, count / 4, sums, a.y_stride, k != 0});
    }
  }
}

#endif

#if BANTAM_IF_LINKED(Sparse) && !defined(BANTAM_KERNEL_OWN_SPARSE)
BANTAM_NOINLINE inline void dot_sparse(const DotSparse& a) {
  for_sparse_outputs(a, [&a](const SparseOutput& output) {
    Sum* sums = a.sums + output.output;
    for (uint32_t r = 0; r < a.rows; ++r) {
      const int8_t* x = a.x + r * a.x_stride;
      const uint16_t* index = output.index;
      int32_t sum = 0;
      for (const int8_t *w = output.w, *end = w + output.steps * 16; w != end; w += 16, index += 4) {
        const int8_t* four = x + *index * 4u;
        BANTAM_UNROLL_ALWAYS
        for (uint32_t i = 0; i < 4; ++i) sum += four[i] * w[i];
      }
      sums[r * a.sums_stride] = sum;
    }
  });
}
#endif

inline bool linear_q8(const LinearQ8& a) {
  if constexpr (!linked::kDynamic) return false;
  if (a.k16) return linear_k16(a);
#if BANTAM_IF_LINKED(Int4) || BANTAM_IF_LINKED(Ternary) || BANTAM_IF_LINKED(Bitmask)
  if constexpr (linked::kInt4 || linked::kTernary || linked::kBitmask) {
    if (Unpacker::wanted(a)) {
      dot_unpacked(a);
      return dequantize_rows(a);
    }
  }
#endif
#if BANTAM_IF_LINKED(Sparse)
  if constexpr (linked::kSparse) {
    if (a.sparse.ends != nullptr) {
      dot_sparse(
          {a.x, a.x_stride, a.rows, a.w, a.sparse, a.k, a.n, reinterpret_cast<Sum*>(a.y), a.y_stride, a.scratch});
      return dequantize_rows(a);
    }
  }
#endif
  dot_block(reinterpret_cast<const int8_t*>(a.x), {a.x_stride, a.rows, a.w, size_t{a.k} * 16, a.n / 16, a.k / 4,
                                                   reinterpret_cast<Sum*>(a.y), a.y_stride, false});
  return dequantize_rows(a);
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_LINEAR_SUMS_H_
