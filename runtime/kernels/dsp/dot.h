// int8 dot products with SMLAD: two products of 16-bit halves, added to a sum.
#ifndef BANTAM_KERNELS_DSP_DOT_H_
#define BANTAM_KERNELS_DSP_DOT_H_

#define BANTAM_KERNEL_ONE_LANE
#include <arm_acle.h>

#include "kernels/dsp/smlad.h"
#include "kernels/reference/vector.h"
// The vectors come first.
#include "kernels/generic/dot_sums.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0;

/// Rows of one block: the registers hold sums of 6.
constexpr uint32_t kMostRows = BANTAM_LINK_ROWS < 6 ? BANTAM_LINK_ROWS : 6;

/// [quads][rows][2] from rows of bytes.
template <class Stored>
inline void expand_rows(const Stored* x, size_t x_stride, uint32_t rows, uint32_t quads, uint32_t* out) {
  for (uint32_t r = 0; r < rows; ++r, x += x_stride, out += 2) {
    uint32_t* to = out;
    for (uint32_t i = 0; i < quads; ++i, to += rows * 2) {
      uint32_t four;
      memcpy(&four, x + i * 4, 4);
      if constexpr (static_cast<Stored>(-1) < 0) {
        to[0] = static_cast<uint32_t>(__sxtb16(four));
        to[1] = static_cast<uint32_t>(__sxtb16(four >> 8));
      } else {
        to[0] = __uxtb16(four);
        to[1] = __uxtb16(four >> 8);
      }
    }
  }
}

/// All panels of `rows` rows, 1, 2, 4 or 6, whose activations are expanded. `w`: of the first panel and this chunk.
inline void dot_panels(const DotBlock& a, uint32_t rows, const uint32_t* x, uint32_t quads, const int8_t* w, Sum* sums,
                       bool add) {
  const auto kernel = kMostRows >= 6 && rows == 6   ? bantam_smlad_6
                      : kMostRows >= 4 && rows == 4 ? bantam_smlad_4
                      : kMostRows >= 2 && rows == 2 ? bantam_smlad_2
                                                    : bantam_smlad_1;
  BantamSmladPanel panel = {sums, static_cast<uint32_t>(a.sums_stride * 4), nullptr, w, x, x + quads * rows * 2, quads,
                            add};
  for (uint32_t p = 0; p < a.panels; ++p, sums += 16, w += a.panel_stride) {
    panel.sums = sums;
    panel.w = w;
    panel.w_end = w + 64;
    kernel(&panel);
  }
}

/// Activations as 16-bit halves in expanded[words], a chunk of k at a time, for all outputs. One function for both kinds of
/// bytes: what differs is the little that expands them.
BANTAM_NOINLINE inline void dot_expanded(const int8_t* x, bool is_signed, const DotBlock& a, uint32_t* expanded,
                                         uint32_t words) {
  for (uint32_t row = 0, rows = 0; row < a.rows; row += rows) {
    const uint32_t left = a.rows - row;
    rows = kMostRows >= 6 && left >= 6 && left != 8 ? 6
           : kMostRows >= 4 && left >= 4            ? 4
           : kMostRows >= 2 && left >= 2            ? 2
                                                    : 1;
    Sum* sums = a.sums + row * a.sums_stride;
    const uint32_t most = words / (2 * rows);
    for (uint32_t quad = 0; quad < a.quads; quad += most) {
      const uint32_t quads = a.quads - quad < most ? a.quads - quad : most;
      const int8_t* from = x + row * a.x_stride + quad * 4;
      if (is_signed) {
        expand_rows(from, a.x_stride, rows, quads, expanded);
      } else {
        expand_rows(reinterpret_cast<const uint8_t*>(from), a.x_stride, rows, quads, expanded);
      }
      dot_panels(a, rows, expanded, quads, a.w + size_t{quad} * 64, sums, a.add || quad != 0);
    }
  }
}

/// With that much stack.
template <uint32_t kWords>
BANTAM_NOINLINE void dot_on_stack(const int8_t* x, bool is_signed, const DotBlock& a) {
  uint32_t expanded[kWords];
  dot_expanded(x, is_signed, a, expanded, kWords);
}

/// 1.5 KB of stack are 6 rows of 128; 4 rows, which are a tile of a small session, want 1 KB, and heads of 64 half of that.
template <class Stored>
inline void dot_block(const Stored* x, const DotBlock& a) {
  constexpr bool kSigned = static_cast<Stored>(-1) < 0;
  const auto* bytes = reinterpret_cast<const int8_t*>(x);
  if (kMostRows > 4 && a.rows > 4) return dot_on_stack<384>(bytes, kSigned, a);
  constexpr uint32_t kWords = 64 * (kMostRows < 4 ? kMostRows : 4);
  a.quads > 16 ? dot_on_stack<kWords>(bytes, kSigned, a) : dot_on_stack<kWords / 2>(bytes, kSigned, a);
}

#if !defined(BANTAM_KERNEL_OWN_SPARSE)
#define BANTAM_KERNEL_OWN_SPARSE
/// Four rows at a time, whose activations are expanded once for all outputs, into a.scratch.
BANTAM_NOINLINE inline void dot_sparse(const LinearQ8& a) {
  uint32_t* expanded = reinterpret_cast<uint32_t*>(a.scratch);
  for (uint32_t row = 0, rows = 0; row < a.rows; row += rows) {
    const uint32_t left = a.rows - row;
    rows = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    expand_rows(a.x + row * a.x_stride, a.x_stride, rows, a.k / 4, expanded);
    const auto kernel = rows == 4 ? bantam_smlad_sparse_4 : rows == 2 ? bantam_smlad_sparse_2 : bantam_smlad_sparse_1;
    Sum* sums = reinterpret_cast<Sum*>(a.y) + row * a.y_stride;
    BantamSmladSparse block = {nullptr, static_cast<uint32_t>(a.y_stride * sizeof(Sum)), nullptr, nullptr, expanded,
                               nullptr};
    for_sparse_outputs(a, [&block, sums, kernel](const SparseOutput& output) {
      block.sums = sums + output.output;
      block.w = output.w;
      block.index = output.index;
      block.w_end = output.w + output.steps * 16;
      kernel(&block);
    });
  }
}
#endif

constexpr uint32_t kMaxRows = 1;
constexpr uint32_t kMaxRowsF32 = 1;
constexpr uint32_t block_panels_f32(uint32_t) { return 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_DSP_DOT_H_
