// The kernels of mve/vectors.h: the generic ones with vectors of four lanes.
#define BANTAM_KERNEL_NAMESPACE mve_vectors
#include "kernels/mve/vectors.h"

#include "kernels/mve/vector.h"

namespace bantam::kernels::mve_vectors {
constexpr uint8_t kOffsetXor = 0;
constexpr uint32_t kMaxRows = 1;
constexpr uint32_t kMaxRowsF32 = 1;
constexpr uint32_t block_panels_f32(uint32_t) { return 1; }
}  // namespace bantam::kernels::mve_vectors

#include "kernels/generic/epilogue.h"
#include "kernels/generic/softmax_q8.h"
#include "kernels/generic/split_heads.h"

namespace bantam::kernels::mve_vectors {

bool epilogue_row(const EpilogueRows& a, uint32_t r) {
  if (a.width % kLanes != 0 || a.activation != Activation::kNone) return false;
  return epilogue_block<1, AnyEpilogue>(a, r);
}

bool activate_rows(const LinearQ8& a) {
  const ActivateBlock block = {a.y, a.y_stride, a.rows, a.n, a.row_maximum};
  return a.activation == Activation::kGelu ? if_linked<Activation::kGelu>(block)
                                           : block.operator()<Activation::kNone>();
}

bool measured_rows(const EpilogueRows& a) { return store_measured_rows(a); }

bool split_rows(const SplitHeads& a) { return split_heads_q8(a); }

bool weigh(const Attention& a, uint32_t query, uint32_t r, uint32_t page_begin, uint32_t page_end, float* factor) {
  if (a.kv_begin % kLanes != 0) return false;
  const TinyNumbers tiny;
  if (!weigh_sums(a, query, r, page_begin, page_end, factor)) return false;
  return !tiny.seen(0);
}

}  // namespace bantam::kernels::mve_vectors
