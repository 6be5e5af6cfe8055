// Blocks of int8 dot products in assembly: 1, 2 or 3 rows by two outputs at a time, for all outputs.
#ifndef BANTAM_KERNELS_MVE_VMLADAVA_H_
#define BANTAM_KERNELS_MVE_VMLADAVA_H_

#include <stdint.h>

/// sums[row][o] = the sum over k of x[row][k] * w[o][k]; rows of w are contiguous (layout k16n1).
struct BantamHeliumRows {
  void* sums;            // int32, [rows]; sums_end: end of the first row
  uint32_t stride;       // bytes from row to row
  const void* sums_end;  // a multiple of two outputs after sums
  const int8_t* x[3];    // as many as the block has rows
  const int8_t* w;
  uint32_t k;  // bytes of a row of w, a multiple of 16; the same number is read from x
};

extern "C" {
void bantam_helium_1(const BantamHeliumRows* rows);
void bantam_helium_2(const BantamHeliumRows* rows);
void bantam_helium_3(const BantamHeliumRows* rows);
}

#endif  // BANTAM_KERNELS_MVE_VMLADAVA_H_
