// int8 dot products with SMLAD, which adds two products of 16-bit halves to a sum.
#ifndef BANTAM_KERNELS_DSP_DOT_H_
#define BANTAM_KERNELS_DSP_DOT_H_

#define BANTAM_KERNEL_ONE_LANE
#include <arm_acle.h>

#include "kernels/dsp/passes.h"
#include "kernels/dsp/smlad.h"
#include "kernels/reference/vector.h"
// Vectors must be included first.
#include "kernels/generic/dot_sums.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0;

/// Rows of one block: the registers can hold sums of 6.
constexpr uint32_t kMostRows = BANTAM_LINK_ROWS < 6 ? BANTAM_LINK_ROWS : 6;

BANTAM_TINY uint32_t rows_together(bool, uint32_t left) {
  return kMostRows >= 6 && left >= 6 && left != 7 && left != 8 ? 6
         : kMostRows >= 4 && left >= 4                         ? 4
         : kMostRows >= 3 && left >= 3                         ? 3
         : kMostRows >= 2 && left >= 2                         ? 2
                                                               : 1;
}
BANTAM_TINY uint32_t quad_words(uint32_t rows) { return rows * 2; }
BANTAM_TINY uint32_t row_words(bool, uint32_t rows) { return rows * 2; }

/// Writes [quads][rows][2] from rows of bytes. In assembly because compilers shift before they extract every second
/// byte, and store words one by one.
template <class Stored>
inline void expand_rows(const Stored* x, size_t x_stride, uint32_t rows, uint32_t quads, uint32_t* out) {
#define BANTAM_EXPAND(operation)                                                    \
  __asm__ volatile("1:\nldr r2, [%0], #4\n" operation " r3, r2, ror #8\n" operation \
                   " r2, r2\nstrd r2, r3, [%1]\nadd %1, %2\ncmp %0, %3\nbne 1b"     \
                   : "+r"(from), "+r"(to)                                           \
                   : "r"(rows * 8), "r"(from + quads * 4)                           \
                   : "r2", "r3", "memory", "cc")
  for (uint32_t r = 0; r < rows; ++r, x += x_stride, out += 2) {
    const Stored* from = x;
    uint32_t* to = out;
    if constexpr (static_cast<Stored>(-1) < 0) {
      BANTAM_EXPAND("sxtb16");
    } else {
      BANTAM_EXPAND("uxtb16");
    }
  }
#undef BANTAM_EXPAND
}

/// Multiplies all panels by `rows` rows, 1, 2, 3, 4 or 6, whose activations are expanded. `w`: the first panel at this
/// chunk.
inline void dot_panels(const DotBlock& a, uint32_t rows, const uint32_t* x, uint32_t quads, const int8_t* w, Sum* sums,
                       bool add) {
  const auto kernel = kMostRows >= 6 && rows == 6   ? bantam_smlad_6
                      : kMostRows >= 4 && rows == 4 ? bantam_smlad_4
                      : kMostRows >= 3 && rows == 3 ? bantam_smlad_3
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

/// 1.5 KB hold 6 rows of 128; 4 rows, a tile of a small session, need 1 KB.
constexpr uint32_t kExpandedWords = 64 * kMostRows;

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#include "kernels/generic/dot_expanded.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

#define BANTAM_KERNEL_OWN_SPARSE
/// Processes four rows at a time; their activations are expanded into a.scratch once for all outputs.
BANTAM_NOINLINE inline void dot_sparse(const DotSparse& a) {
  uint32_t* expanded = reinterpret_cast<uint32_t*>(a.scratch);
  for (uint32_t row = 0, rows = 0; row < a.rows; row += rows) {
    const uint32_t left = a.rows - row;
    rows = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    expand_rows(a.x + row * a.x_stride, a.x_stride, rows, a.k / 4, expanded);
    const auto kernel = rows == 4 ? bantam_smlad_sparse_4 : rows == 2 ? bantam_smlad_sparse_2 : bantam_smlad_sparse_1;
    Sum* sums = a.sums + row * a.sums_stride;
    BantamSmladSparse block = {nullptr, static_cast<uint32_t>(a.sums_stride * sizeof(Sum)), nullptr, nullptr, expanded,
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

constexpr uint32_t kMaxRows = 1;
constexpr uint32_t kMaxRowsF32 = 1;
constexpr uint32_t block_panels_f32(uint32_t) { return 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_DSP_DOT_H_
