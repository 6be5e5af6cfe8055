// int8 dot products with Helium's VMLADAVA: for weights in rows (layout k16n1) in assembly; tiles and sparse weights
// are gathered.
#ifndef BANTAM_KERNELS_MVE_DOT_H_
#define BANTAM_KERNELS_MVE_DOT_H_

#include <arm_mve.h>

#define BANTAM_KERNEL_ONE_LANE
#define BANTAM_KERNEL_OWN_SPARSE
#include "kernels/mve/ints.h"
#include "kernels/mve/vectors.h"
#include "kernels/mve/vmladava.h"
#include "kernels/reference/vector.h"
// Vectors must be included first.
#include "kernels/generic/dot_sums.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {
constexpr uint8_t kOffsetXor = 0;
}
#include "kernels/generic/rows.h"

#define BANTAM_KERNEL_OWN_K16

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// One output of tiles and `kRows` rows: gathers four quads at a time. `flip`: 0x80 if x is u8; then x - 128 is
/// multiplied, and 128 times the sum of the weights is added to compensate.
template <uint32_t kRows>
BANTAM_NOINLINE void dot_tile_output(const int8_t* x, size_t x_stride, uint32_t flip, const int8_t* w, uint32_t quads,
                                     Sum* sums, size_t sums_stride, bool add) {
  const uint32x4_t every_tile = vshlq_n_u32(vidupq_n_u32(0, 8), 3);
  const int8x16_t flips = vreinterpretq_s8_u8(vdupq_n_u8(static_cast<uint8_t>(flip)));
  int32_t found[kRows];
  int32_t weights_sum = 0;
  BANTAM_UNROLL_ALWAYS
  for (uint32_t r = 0; r < kRows; ++r) found[r] = add ? sums[r * sums_stride] : 0;
  for (auto left = static_cast<int32_t>(quads); left > 0; left -= 4, w += 256, x += 16) {
    const mve_pred16_t some = vctp32q(static_cast<uint32_t>(left));
    const int8x16_t weights =
        vreinterpretq_s8_u32(vldrwq_gather_offset_z_u32(reinterpret_cast<const uint32_t*>(w), every_tile, some));
    weights_sum = vaddvaq_s8(weights_sum, weights);
    BANTAM_UNROLL_ALWAYS
    for (uint32_t r = 0; r < kRows; ++r) {
      found[r] = vmladavaq_s8(found[r], veorq_s8(vldrbq_z_s8(x + r * x_stride, some), flips), weights);
    }
  }
  BANTAM_UNROLL_ALWAYS
  for (uint32_t r = 0; r < kRows; ++r) sums[r * sums_stride] = found[r] + static_cast<int32_t>(flip) * weights_sum;
}

BANTAM_NOINLINE inline void dot_tiles(const int8_t* x, uint32_t flip, const DotBlock& a) {
  for (uint32_t row = 0, rows = 0; row < a.rows; row += rows, x += rows * a.x_stride) {
    rows = a.rows - row >= 4 ? 4 : 1;
    const auto dot = rows == 4 ? dot_tile_output<4> : dot_tile_output<1>;
    Sum* sums = a.sums + row * a.sums_stride;
    for (uint32_t p = 0; p < a.panels; ++p) {
      const int8_t* w = a.w + p * a.panel_stride;
      for (const int8_t* end = w + 64; w != end; w += 4, ++sums) {
        dot(x, a.x_stride, flip, w, a.quads, sums, a.sums_stride, a.add);
      }
    }
  }
}
template <class Stored>
inline void dot_block(const Stored* x, const DotBlock& a) {
  dot_tiles(reinterpret_cast<const int8_t*>(x), static_cast<Stored>(-1) < 0 ? 0 : 128, a);
}

#define BANTAM_KERNEL_VECTORS mve_vectors

constexpr uint32_t kMaxRows = 1;
constexpr uint32_t kMaxRowsF32 = 1;
constexpr uint32_t block_panels_f32(uint32_t) { return 1; }

BANTAM_NOINLINE inline void dot_k16(const DotRows& a) {
  BantamHeliumRows block = {};
  block.stride = static_cast<uint32_t>(a.sums_stride * sizeof(Sum));
  block.w = a.w;
  block.k = pad16(a.k);
  for (uint32_t row = 0, rows = 0; row < a.rows; row += rows) {
    const uint32_t left = a.rows - row;
    rows = left == 4 ? 2 : left < 3 ? left : 3;
    Sum* sums = a.sums + row * a.sums_stride;
    block.sums = sums;
    block.sums_end = sums + a.outputs;
    for (uint32_t r = 0; r < rows; ++r) block.x[r] = a.x + (row + r) * a.x_stride;
    (rows == 3 ? bantam_helium_3 : rows == 2 ? bantam_helium_2 : bantam_helium_1)(&block);
  }
}

/// One output of sparse weights and `kRows` rows: gathers four blocks at a time, and the matching inputs of each row.
template <uint32_t kRows>
BANTAM_NOINLINE void dot_sparse_output(const int8_t* x, size_t x_stride, const SparseOutput& output, Sum* sums,
                                       size_t sums_stride) {
  const uint32x4_t every_fourth = vshlq_n_u32(vidupq_n_u32(0, 1), 2);
  int32_t found[kRows] = {};
  const int8_t* w = output.w;
  const uint16_t* index = output.index;
  for (uint32_t left = output.steps, taken = 0; left != 0; left -= taken, w += 64, index += 16) {
    const mve_pred16_t some = vctp32q(left);
    taken = left < 4 ? left : 4;
    const uint32x4_t quads = vldrhq_gather_shifted_offset_z_u32(index, every_fourth, some);
    const uint32x4_t weights =
        vldrwq_gather_shifted_offset_z_u32(reinterpret_cast<const uint32_t*>(w), every_fourth, some);
    BANTAM_UNROLL_ALWAYS
    for (uint32_t r = 0; r < kRows; ++r) {
      const auto* from = reinterpret_cast<const uint32_t*>(x + r * x_stride);
      found[r] = vmladavaq_s8(found[r], vreinterpretq_s8_u32(vldrwq_gather_shifted_offset_u32(from, quads)),
                              vreinterpretq_s8_u32(weights));
    }
  }
  BANTAM_UNROLL_ALWAYS
  for (uint32_t r = 0; r < kRows; ++r) sums[r * sums_stride] = found[r];
}

BANTAM_NOINLINE inline void dot_sparse(const DotSparse& a) {
  for (uint32_t row = 0, rows = 0; row < a.rows; row += rows) {
    const uint32_t left = a.rows - row;
    rows = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const auto kernel = rows == 4 ? dot_sparse_output<4> : rows == 2 ? dot_sparse_output<2> : dot_sparse_output<1>;
    const int8_t* x = a.x + row * a.x_stride;
    Sum* sums = a.sums + row * a.sums_stride;
    for_sparse_outputs(a, [&a, x, sums, kernel](const SparseOutput& output) {
      kernel(x, a.x_stride, output, sums + output.output, a.sums_stride);
    });
  }
}

/// Returns true if every element is 0 or at least 2^-40 in magnitude; `count` is a multiple of 16.
inline bool none_tiny(const float* v, uint32_t count) {
  constexpr uint32_t kTinyFrom = (127 - 40) << 23;
  uint32x4_t least = vdupq_n_u32(UINT32_MAX);
  for (const float* end = v + count; v != end; v += 16) {
    BANTAM_UNROLL_ALWAYS
    for (uint32_t i = 0; i < 16; i += 4) {
      const uint32x4_t magnitudes = vreinterpretq_u32_f32(vabsq_f32(vld1q_f32(v + i)));
      least = vminq_u32(least, vsubq_n_u32(magnitudes, 1));  // 0 wraps to the largest number
    }
  }
  return vminvq_u32(UINT32_MAX, least) >= kTinyFrom - 1;
}

/// Computes the values of the sums in y, four at a time; or returns false without doing anything. Helium flushes
/// subnormal numbers to zero, but none occur if scales and biases are 0 or at least 2^-40: then the product of two
/// scales is at least 2^-80, so product and bias are multiples of 2^-103, and so is their sum.
BANTAM_NOINLINE inline bool dequantize_vectors(const LinearQ8& a, Finite& finite) {
  if (a.bias == nullptr || !none_tiny(a.w_scale, a.n) || !none_tiny(a.bias, a.n)) return false;
  for (uint32_t r = 0; r < a.rows; ++r) {
    if (!(a.x_scale[r] >= 0x1p-40f)) return false;
  }
  float32x4_t poison = vdupq_n_f32(0.0f);  // see Finite
  for (uint32_t r = 0; r < a.rows; ++r) {
    float* y = a.y + r * a.y_stride;
    const float* w_scale = a.w_scale;
    const float* bias = a.bias;
    float32x4_t scale;
    float32x4_t sums;
    float32x4_t v;
    // In assembly because the compiler uses three instructions to count such loops and does not keep `poison` in a
    // register.
#define BANTAM_FOUR_VALUES                \
  "vldrw.32 %q[scale], [%[w]], #16\n"     \
  "vldrw.32 %q[sums], [%[y]]\n"           \
  "vmul.f32 %q[scale], %q[scale], %[x]\n" \
  "vldrw.32 %q[v], [%[b]], #16\n"         \
  "vcvt.f32.s32 %q[sums], %q[sums]\n"     \
  "vfma.f32 %q[v], %q[sums], %q[scale]\n" \
  "vstrw.32 %q[v], [%[y]], #16\n"         \
  "vfma.f32 %q[poison], %q[v], %[zero]\n"
    __asm__ volatile(
        "dls lr, %[rounds]\n"
        "1:\n" BANTAM_FOUR_VALUES BANTAM_FOUR_VALUES "le lr, 1b\n"
        : [w] "+r"(w_scale), [b] "+r"(bias), [y] "+r"(y), [poison] "+w"(poison), [scale] "=&w"(scale),
          [sums] "=&w"(sums), [v] "=&w"(v)
        : [x] "r"(a.x_scale[r]), [zero] "r"(0.0f), [rounds] "r"(a.n / 8)
        : "lr", "memory");
#undef BANTAM_FOUR_VALUES
  }
  finite.note(vgetq_lane_f32(poison, 0));
  finite.note(vgetq_lane_f32(poison, 1));
  finite.note(vgetq_lane_f32(poison, 2));
  finite.note(vgetq_lane_f32(poison, 3));
  return true;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_MVE_DOT_H_
