// Code that the operators of static quantization share: their operands, and the norm that may end them. The schema's
// `Integer` defines the numbers.
#ifndef BANTAM_OPS_STATIC_STATIC_H_
#define BANTAM_OPS_STATIC_STATIC_H_

#include "ops/operands.h"

namespace bantam::ops {

constexpr uint32_t kMaxShift = 31;

/// i8 rows without stored scales.
struct FixedRows {
  int8_t* data;
  size_t stride;  // bytes

  FixedRows from(uint32_t n) const { return {data + size_t{n} * stride, stride}; }
};
inline FixedRows fixed_rows(const TileRun& run, int32_t index) {
  const fb::Tensor& t = tensor(run.model, index);
  return {reinterpret_cast<int8_t*>(base(run, t)), kernels::pad16(width(t))};
}
/// Returns the rows of this tile, like tile_rows of operands.h.
inline FixedRows fixed_tile_rows(const TileRun& run, int32_t index) {
  const FixedRows all = fixed_rows(run, index);
  return tensor(run.model, index).region() == fb::Region::tile ? all : all.from(run.row_begin);
}

/// Checks that `index` is an arena tensor of the step's rows: fixed i8 rows of `columns`; 0: any.
Verdict check_fixed_rows(const Site& site, int32_t index, uint32_t columns);

/// Checks that the operator has its `Integer` constants, and that its epilogue, if any, contains only what `norm`
/// allows: a residual and a layer norm of `columns`.
Verdict check_integer(const Site& site, uint32_t columns, bool norm);

/// Checks that outputs[0] has fixed i8 rows of `columns` or, if `may_be_f32`, f32 rows, and that there is no other
/// output.
Verdict check_static_output(const Site& site, uint32_t columns, bool may_be_f32);

inline bool has_norm(const fb::Op& op) {
  return op.epilogue() != nullptr && op.epilogue()->norm() != fb::NormKind::none;
}
inline bool stores_f32(const fb::Model& model, const fb::Op& op) {
  return tensor(model, operand(op.outputs(), 0)).type() == fb::DType::f32;
}

/// Bytes of scratch for the rows before the norm; 0 without a norm. A multiple of 16.
uint64_t norm_scratch(const fb::Op& op, uint32_t columns, uint32_t block_rows);

/// Applies residual and norm to rows h [n, columns] in scratch, rows [first, first + n) of the tile, and stores them in
/// outputs[0].
void finish_norm(const TileRun& run, const fb::Op& op, uint32_t columns, uint32_t first, uint32_t n);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_STATIC_STATIC_H_
