// The int8 dot products of the reference: two rows by one output, which fits a processor with eight registers.
#ifndef BANTAM_KERNELS_REFERENCE_DOT_H_
#define BANTAM_KERNELS_REFERENCE_DOT_H_

#define BANTAM_KERNEL_ONE_LANE
#include "kernels/reference/vector.h"
// Vectors must be included first.
#include "kernels/generic/dot_sums.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// XORed into stored q8 activations. 0x80 if a dot product takes u8, so that it can use them directly, and accumulators
/// begin with -128 * sum (kOffsetInDots); or if kernels are shared with such an instruction set.
constexpr uint8_t kOffsetXor = 0;

/// Sums of rows x and x + x_step by output w; with x_step 0 the same row twice. Weights and sums of two rows fit in
/// eight registers.
template <class Stored>
BANTAM_NOINLINE void dot_two_rows(const Stored* x, size_t x_step, const int8_t* w, uint32_t quads, Sum (&out)[2]) {
  int32_t first = 0;
  int32_t second = 0;
  const Stored* y = x + x_step;
  for (const int8_t* end = w + quads * 64; w != end; w += 64, x += 4, y += 4) {
    BANTAM_UNROLL_ALWAYS
    for (uint32_t j = 0; j < 4; ++j) {
      const int32_t weight = w[j];  // NOLINT(bugprone-signed-char-misuse): numbers, not characters
      first += x[j] * weight;
      second += y[j] * weight;
    }
  }
  out[0] = first;
  out[1] = second;
}

template <class Stored>
inline void dot_block(const Stored* x, const DotBlock& a) {
  for (uint32_t r = 0; r < a.rows; r += 2) {
    const bool two = r + 1 < a.rows;
    Sum* sums = a.sums + r * a.sums_stride;
    for (uint32_t o = 0; o < 16 * a.panels; ++o, ++sums) {
      Sum found[2];
      const int8_t* w = a.w + o / 16 * a.panel_stride + o % 16 * 4;
      dot_two_rows(x + r * a.x_stride, two ? a.x_stride : 0, w, a.quads, found);
      sums[0] = a.add ? sums[0] + found[0] : found[0];
      if (two) sums[a.sums_stride] = a.add ? sums[a.sums_stride] + found[1] : found[1];
    }
  }
}

/// Register blocks of f32: rows by panels of 16 outputs. [rows] -> panels, for rows 1..kMaxRowsF32.
constexpr uint32_t kMaxRows = 1;
constexpr uint32_t kMaxRowsF32 = 1;
constexpr uint32_t block_panels_f32(uint32_t) { return 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_REFERENCE_DOT_H_
