// Dot products of one output in assembly, for cores with 16-bit Thumb instructions.
#ifndef BANTAM_KERNELS_SCALAR_THUMB_H_
#define BANTAM_KERNELS_SCALAR_THUMB_H_

#include <stdint.h>

// x: one word per element, up to x_end, a multiple of four elements; w: the output's four weights of a tile, tiles 64
// bytes apart, 4-byte aligned.
extern "C" {
/// Returns sum + the sum over k of x[k] * w[k].
int32_t bantam_thumb_1(const uint32_t* x, const uint32_t* x_end, const int8_t* w, int32_t sum);
/// Does the same for two rows, x[k] = first + second * 2^16: adds to sums[0] and sums[1].
void bantam_thumb_2(const uint32_t* x, const uint32_t* x_end, const int8_t* w, int32_t* sums);
}

#endif  // BANTAM_KERNELS_SCALAR_THUMB_H_
