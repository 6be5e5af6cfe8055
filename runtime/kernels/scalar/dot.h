// int8 dot products for cores with 16-bit Thumb instructions (Armv6-M, Armv8-M Baseline): two rows in the halves of a
// register share one multiplication.
#ifndef BANTAM_KERNELS_SCALAR_DOT_H_
#define BANTAM_KERNELS_SCALAR_DOT_H_

#define BANTAM_KERNEL_ONE_LANE
#include "kernels/reference/vector.h"
#include "kernels/scalar/thumb.h"
// Vectors must be included first.
#include "kernels/generic/dot_sums.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0;

/// Two int8 products fit in 16 bits; after them, the packed sum of both rows is separated. A single product of u8 and
/// int8 fills 16 bits.
BANTAM_TINY bool in_pairs(bool is_signed) { return is_signed && BANTAM_LINK_ROWS >= 2; }
BANTAM_TINY uint32_t rows_together(bool is_signed, uint32_t left) { return in_pairs(is_signed) && left >= 2 ? 2 : 1; }
BANTAM_TINY uint32_t quad_words(uint32_t) { return 4; }
BANTAM_TINY uint32_t row_words(bool is_signed, uint32_t rows) {
  return (in_pairs(is_signed) ? (rows + 1) / 2 : rows) * 4;
}
constexpr uint32_t kExpandedWords = 64 * (BANTAM_LINK_ROWS < 4 ? BANTAM_LINK_ROWS : 4);

/// One word per element: of one row, or of two rows, the second one times 2^16.
template <class Stored>
inline void expand_rows(const Stored* x, size_t x_stride, uint32_t rows, uint32_t quads, uint32_t* out) {
  const Stored* second = x + x_stride;
  for (uint32_t* end = out + quads * 4; out != end; ++out) {
    auto word = static_cast<uint32_t>(*x++);
    if (rows == 2) word += static_cast<uint32_t>(*second++) << 16;
    *out = word;
  }
}

/// Multiplies all panels by one row or two.
inline void dot_panels(const DotBlock& a, uint32_t rows, const uint32_t* x, uint32_t quads, const int8_t* w, Sum* sums,
                       bool add) {
  const uint32_t* end = x + quads * 4;
  for (uint32_t p = 0; p < a.panels; ++p, w += a.panel_stride) {
    for (const int8_t* output = w; output != w + 64; output += 4, ++sums) {
      if (rows == 1) {
        *sums = bantam_thumb_1(x, end, output, add ? *sums : 0);
        continue;
      }
      int32_t both[2] = {add ? sums[0] : 0, add ? sums[a.sums_stride] : 0};
      bantam_thumb_2(x, end, output, both);
      sums[0] = both[0];
      sums[a.sums_stride] = both[1];
    }
  }
}

constexpr uint32_t kMaxRows = 1;
constexpr uint32_t kMaxRowsF32 = 1;
constexpr uint32_t block_panels_f32(uint32_t) { return 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#include "kernels/generic/dot_expanded.h"

#endif  // BANTAM_KERNELS_SCALAR_DOT_H_
