#include "ops/heads.h"

namespace bantam::ops {
namespace {

Verdict check_head_tensor(const Site& site, int32_t index, uint32_t heads, uint32_t head_width, bool q8,
                          fb::Layout layout) {
  const fb::Tensor& t = tensor(site.model, index);
  // The rows of a state are tokens of a source; queries are never states.
  if (layout == fb::Layout::rows || layout == fb::Layout::head_rows || !is_state(t)) {
    BANTAM_CHECK(check_step_rows(site, index));
  }
  if (t.type() != (q8 ? fb::DType::i8 : fb::DType::f32)) {
    return corrupt("queries, keys and values differ in type", index);
  }
  if (t.layout() != layout) return corrupt("queries, keys or values have the wrong layout", index);
  if (width(t) != heads * head_width) return corrupt("queries, keys or values have the wrong width", index);
  if (layout != fb::Layout::rows && t.heads() != heads) return corrupt("the tensor's number of heads is wrong", index);
  return {};
}

}  // namespace

Verdict check_head_shape(const HeadShape& shape) {
  if (shape.heads == 0 || shape.kv_heads == 0 || shape.head_width == 0) return corrupt("heads of no number or width");
  if (shape.heads % shape.kv_heads != 0) return corrupt("heads is not a multiple of kv_heads");
  return check_split_shape(shape);
}

Verdict check_split_shape(const HeadShape& shape) {
  if ((shape.heads == 0 && shape.kv_heads == 0) || shape.head_width == 0) return corrupt("heads of no number or width");
  const uint64_t heads = uint64_t{shape.heads} + 2 * uint64_t{shape.kv_heads};
  return heads > kMaxWidth || heads * shape.head_width > kMaxWidth ? unsupported("attention is too wide") : Verdict{};
}

Verdict check_present(const HeadShape& shape, int32_t q, int32_t k, int32_t v) {
  const bool fits =
      (q < 0) == (shape.heads == 0) && (k < 0) == (shape.kv_heads == 0) && (v < 0) == (shape.kv_heads == 0);
  return fits ? Verdict{} : corrupt("queries, keys or values are absent");
}

Verdict check_head_tensors(const Site& site, const HeadShape& shape, int32_t q, int32_t k, int32_t v) {
  BANTAM_CHECK(check_present(shape, q, k, v));
  const bool q8 = tensor(site.model, q >= 0 ? q : k).type() == fb::DType::i8;
  if (q8 ? !linked::kDynamic : !linked::kFloatAttention) return not_linked("this build leaves out such attention");
  if (q >= 0) {
    const fb::Layout layout = q8 ? fb::Layout::head_rows : fb::Layout::rows;
    BANTAM_CHECK(check_head_tensor(site, q, shape.heads, shape.head_width, q8, layout));
  }
  if (k < 0) return {};
  BANTAM_CHECK(check_head_tensor(site, k, shape.kv_heads, shape.head_width, q8, fb::Layout::key_pages));
  BANTAM_CHECK(check_head_tensor(site, v, shape.kv_heads, shape.head_width, q8, fb::Layout::value_pages));
  if (tensor(site.model, k).region() != fb::Region::shared || tensor(site.model, v).region() != fb::Region::shared) {
    return corrupt("keys and values are shared by all rows", k);
  }
  if (is_state(tensor(site.model, k)) != is_state(tensor(site.model, v))) {
    return corrupt("keys are a state where values are none, or the other way round", k);
  }
  return {};
}

uint64_t f32_heads_bytes(const fb::Model& model, fb::Region region, const uint32_t (&values)[kSymbols]) {
  uint64_t end = 0;
  for (const fb::Op* op : *graph(model).ops()) {
    if (executed_kind(*op) != fb::OpAttributes::SplitHeads) continue;
    for (uint32_t i = 0; i < count(op->outputs()); ++i) {
      if (operand(op->outputs(), i) < 0) continue;
      const fb::Tensor& t = tensor(model, operand(op->outputs(), i));
      if (t.type() != fb::DType::i8 || t.region() != region || is_state(t)) continue;
      const uint64_t ends = evaluate(t.offset(), values) + row_bytes(t) * values[rows_symbol(t)];
      end = ends > end ? ends : end;
    }
  }
  return 4 * end;
}

}  // namespace bantam::ops
