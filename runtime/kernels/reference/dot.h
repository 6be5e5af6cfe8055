// The int8 dot products of the reference: two rows by two outputs, which an eight-register processor can hold.
#ifndef BANTAM_KERNELS_REFERENCE_DOT_H_
#define BANTAM_KERNELS_REFERENCE_DOT_H_

#define BANTAM_KERNEL_ONE_LANE
#include "kernels/reference/vector.h"
// The vectors come first.
#include "kernels/generic/dot_sums.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// XORed into stored q8 activations; 0x80 where the dot product takes u8, and then accumulators start at -128 * sum.
constexpr uint8_t kOffsetXor = 0;

/// Sums of rows x and x + x_step by outputs w and w + 4; one row where x_step is 0.
template <class Stored>
BANTAM_NOINLINE void dot_two_by_two(const Stored* x, size_t x_step, const int8_t* w, uint32_t quads, Sum (&out)[4]) {
  int32_t a = 0;
  int32_t b = 0;
  int32_t c = 0;
  int32_t d = 0;
  for (uint32_t i = 0; i < quads; ++i, w += 60) {
    for (uint32_t j = 0; j < 4; ++j, ++x, ++w) {
      const int32_t first = w[0];
      const int32_t second = w[4];
      a += x[0] * first;
      b += x[0] * second;
      c += x[x_step] * first;
      d += x[x_step] * second;
    }
  }
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = d;
}

template <class Stored>
inline void dot_block(const Stored* x, const DotBlock& a) {
  for (uint32_t r = 0; r < a.rows; r += 2) {
    const bool two = r + 1 < a.rows;
    Sum* sums = a.sums + r * a.sums_stride;
    for (uint32_t o = 0; o < 16 * a.panels; o += 2) {
      Sum found[4];
      dot_two_by_two(x + r * a.x_stride, two ? a.x_stride : 0, a.w + o / 16 * a.panel_stride + o % 16 * 4, a.quads,
                     found);
      for (uint32_t i = 0; i < (two ? 4u : 2u); ++i) {
        Sum& sum = sums[o + i % 2 + i / 2 * a.sums_stride];
        sum = a.add ? sum + found[i] : found[i];
      }
    }
  }
}

/// Register blocks of f32: rows by panels of 16 outputs. [rows] -> panels, for rows 1..kMaxRowsF32.
constexpr uint32_t kMaxRows = 1;
constexpr uint32_t kMaxRowsF32 = 1;
constexpr uint32_t block_panels_f32(uint32_t) { return 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_REFERENCE_DOT_H_
