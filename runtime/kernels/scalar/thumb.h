// Dot products of one output in assembler, for cores whose instructions are Thumb's of 16 bits.
#ifndef BANTAM_KERNELS_SCALAR_THUMB_H_
#define BANTAM_KERNELS_SCALAR_THUMB_H_

#include <stdint.h>

// x: a word an element, up to x_end, a multiple of four of them; w: the output's four weights of a tile, tiles 64 bytes apart,
// 4-byte aligned.
extern "C" {
/// sum + the sum over k of x[k] * w[k].
int32_t bantam_thumb_1(const uint32_t* x, const uint32_t* x_end, const int8_t* w, int32_t sum);
/// Adds to sums[0] and sums[1] the same of two rows, x[k] = first + second * 2^16.
void bantam_thumb_2(const uint32_t* x, const uint32_t* x_end, const int8_t* w, int32_t* sums);
}

#endif  // BANTAM_KERNELS_SCALAR_THUMB_H_
