// The parts of the kernels that use four lanes of floats, with the same bits as one lane.
#ifndef BANTAM_KERNELS_MVE_VECTORS_H_
#define BANTAM_KERNELS_MVE_VECTORS_H_

#include "kernels/kernels.h"

namespace bantam::kernels::mve_vectors {

/// Computes row r of epilogue_rows. Returns false, and stores nothing, if vectors cannot compute the row, if they would
/// flush numbers, or if some number is not finite.
bool epilogue_row(const EpilogueRows& a, uint32_t r);
/// Activations that flush nothing for numbers that are 0 or at least 2^-103 in magnitude: GELU, whose coefficients are
/// larger, and none.
BANTAM_KERNELS_CONSTEXPR bool activates(Activation activation) {
  return activation == Activation::kGelu || activation == Activation::kNone;
}
/// activate_block for all of y with one of these activations.
bool activate_rows(const LinearQ8& a);
/// Rows of epilogue_rows that are measured: quantization yields the same integers if numbers are flushed.
bool measured_rows(const EpilogueRows& a);
/// split_heads for int8 heads without rotation: it only quantizes.
bool split_rows(const SplitHeads& a);
/// weigh_sums for scores without biases. Also returns false if numbers are flushed, or if keys do not begin at a vector
/// boundary: the sums are then overwritten.
bool weigh(const Attention& a, uint32_t query, uint32_t r, uint32_t page_begin, uint32_t page_end, float* factor);

}  // namespace bantam::kernels::mve_vectors

#endif  // BANTAM_KERNELS_MVE_VECTORS_H_
