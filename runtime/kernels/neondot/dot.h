// int8 dot product with sdot.
#ifndef BANTAM_KERNELS_NEONDOT_DOT_H_
#define BANTAM_KERNELS_NEONDOT_DOT_H_

#include "kernels/neon/ints.h"
#include "kernels/neon/row_sums.h"
#include "kernels/neondot/lane_block.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0;
constexpr bool kOffsetInDots = false;

template <uint32_t kRows, uint32_t kPanels>
using RegisterBlock = LaneBlock<kRows, kPanels>;

// 8 rows by half a panel use 16 sums, 8 rows and 4 weights of 32 registers; 4 rows by a panel use the same number.
constexpr uint32_t kMaxRows = 8;
constexpr uint32_t block_panels(uint32_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }
constexpr uint32_t kMaxRowsF32 = 6;
constexpr uint32_t block_panels_f32(uint32_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_NEONDOT_DOT_H_
