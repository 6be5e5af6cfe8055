// Blocks of int8 dot products in assembly: 1, 2, 3, 4 or 6 rows by the 16 outputs of a panel, or one output of sparse
// weights.
#ifndef BANTAM_KERNELS_DSP_SMLAD_H_
#define BANTAM_KERNELS_DSP_SMLAD_H_

#include <stdint.h>

/// sums[row][o] = the sum over all quads of x[quad][row] * w[quad][o], o = 0..15; with `add`, the sum is added to the
/// old value.
struct BantamSmladPanel {
  void* sums;             // int32, 4-byte aligned
  uint32_t stride;        // bytes from row to row
  const int8_t* w_end;    // w + 64
  const int8_t* w;        // tiles [quads][16][4], 4-byte aligned
  const uint32_t* x;      // [quads][rows][2]: elements 0 and 2 of the quad as two int16, then 1 and 3
  const uint32_t* x_end;  // end of the last quad
  uint32_t quads;         // at least 1
  uint32_t add;           // not 0: adds to the old sums
};

/// sums[row] = the sum over all blocks of x[index[4 * block]][row] * w[16 * block], where each product is that of four
/// numbers.
struct BantamSmladSparse {
  void* sums;             // int32, 4-byte aligned
  uint32_t stride;        // bytes from row to row
  const int8_t* w;        // 4-byte aligned
  const uint16_t* index;  // indices of quads
  const uint32_t* x;      // [quads][rows][2], as above
  const int8_t* w_end;    // w + 16 * blocks
};

extern "C" {
void bantam_smlad_1(const BantamSmladPanel* panel);
void bantam_smlad_2(const BantamSmladPanel* panel);
void bantam_smlad_3(const BantamSmladPanel* panel);
void bantam_smlad_4(const BantamSmladPanel* panel);
void bantam_smlad_6(const BantamSmladPanel* panel);
void bantam_smlad_sparse_1(const BantamSmladSparse* output);
void bantam_smlad_sparse_2(const BantamSmladSparse* output);
void bantam_smlad_sparse_4(const BantamSmladSparse* output);
}

#endif  // BANTAM_KERNELS_DSP_SMLAD_H_
