// The parts of the kernels that four lanes of floats compute, with the bits of one lane.
#ifndef BANTAM_KERNELS_MVE_VECTORS_H_
#define BANTAM_KERNELS_MVE_VECTORS_H_

#include "kernels/kernels.h"

namespace bantam::kernels::mve_vectors {

/// Computes row r of epilogue_rows. Returns false, and stores nothing, if the row is not for vectors, or has numbers
/// that they flush or that are not finite.
bool epilogue_row(const EpilogueRows& a, uint32_t r);
/// Activations of numbers that are 0 or at least 2^-103 in magnitude and flush none: GELU, whose coefficients are larger, and none.
BANTAM_KERNELS_CONSTEXPR bool activates(Activation activation) {
  return activation == Activation::kGelu || activation == Activation::kNone;
}
/// activate_block of all of y by one of them.
bool activate_rows(const LinearQ8& a);
/// Rows of epilogue_rows that are measured: quantising takes the same integers from numbers that are flushed.
bool measured_rows(const EpilogueRows& a);
/// split_heads of int8 heads that are not turned, which quantises only.
bool split_rows(const SplitHeads& a);
/// weigh_sums of scores without biases. False, too, where numbers are flushed, or keys do not begin with a vector: the sums are
/// gone then.
bool weigh(const Attention& a, uint32_t query, uint32_t r, uint32_t page_begin, uint32_t page_end, float* factor);

}  // namespace bantam::kernels::mve_vectors

#endif  // BANTAM_KERNELS_MVE_VECTORS_H_
