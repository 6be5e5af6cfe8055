// Queries, key pages and value pages: what SplitHeads writes and Attention reads.
#ifndef BANTAM_OPS_HEADS_H_
#define BANTAM_OPS_HEADS_H_

#include "ops/operands.h"

namespace bantam::ops {

struct HeadShape {
  uint32_t heads;
  uint32_t kv_heads;
  uint32_t head_width;
};

/// Counts are positive, small enough for 32-bit products, and heads is a multiple of kv_heads.
Verdict check_head_shape(const HeadShape& shape);

/// q, k and v are shared token tensors of this shape, all i8 or all f32, in their layouts.
Verdict check_head_tensors(const Site& site, const HeadShape& shape, int32_t q, int32_t k, int32_t v);

/// Query rows of a shared tensor, row 0.
struct QueryRows {
  uint8_t* data;
  float* scales;  // [row][heads]; null for f32
  size_t stride;  // elements
};
inline QueryRows query_rows(const TileRun& run, int32_t index) {
  const fb::Tensor& t = tensor(run.model, index);
  const size_t stride = kernels::pad16(width(t));
  uint8_t* data = base(run, t);
  if (t.type() == fb::DType::f32) return {data, nullptr, stride};
  return {data, reinterpret_cast<float*>(data + stride * run.values[kTokens]), stride};
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_HEADS_H_
