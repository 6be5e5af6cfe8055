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

/// Whether a tensor of queries, keys or values is int8 in this run: with SessionOptions::f32_attention none is.
inline bool is_q8(const TileRun& run, const fb::Tensor& t) {
  return t.type() == fb::DType::i8 && (!linked::kHost || run.f32_heads == nullptr);
}

/// First byte of queries, keys or values. An int8 tensor that is f32 in this run lies at four times its planned offset in
/// a region of its own: f32 rows and pages are at most four times as large as int8 ones with their scales, so whatever
/// the plan keeps apart stays apart.
inline uint8_t* head_base(const TileRun& run, const fb::Tensor& t) {
  const bool moved = linked::kHost && t.type() == fb::DType::i8 && run.f32_heads != nullptr;
  return moved ? run.f32_heads + 4 * evaluate(t.offset(), run.values) : base(run, t);
}

/// Bytes of that region for these symbol values; grows with each of them.
uint64_t f32_heads_bytes(const fb::Model& model, const uint32_t (&values)[kSymbols]);

/// Query rows of a shared tensor, row 0.
struct QueryRows {
  uint8_t* data;
  float* scales;  // [row][heads]; null for f32
  size_t stride;  // elements
};
inline QueryRows query_rows(const TileRun& run, int32_t index) {
  const fb::Tensor& t = tensor(run.model, index);
  const size_t stride = kernels::pad16(width(t));
  uint8_t* data = head_base(run, t);
  if (!is_q8(run, t)) return {data, nullptr, stride};
  return {data, reinterpret_cast<float*>(data + stride * run.values[kTokens]), stride};
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_HEADS_H_
