// What the operators of static quantization share: their operands, and the norm that may end them. The numbers are those
// of `Integer` in the schema.
#ifndef BANTAM_OPS_STATIC_STATIC_H_
#define BANTAM_OPS_STATIC_STATIC_H_

#include "ops/operands.h"

namespace bantam::ops {

constexpr uint32_t kMaxShift = 31;

/// Rows of i8 without scales.
struct FixedRows {
  int8_t* data;
  size_t stride;  // bytes

  FixedRows from(uint32_t n) const { return {data + size_t{n} * stride, stride}; }
};
inline FixedRows fixed_rows(const TileRun& run, int32_t index) {
  const fb::Tensor& t = tensor(run.model, index);
  return {reinterpret_cast<int8_t*>(base(run, t)), kernels::pad16(width(t))};
}
/// Those of this tile, as tile_rows of operands.h.
inline FixedRows fixed_tile_rows(const TileRun& run, int32_t index) {
  const FixedRows all = fixed_rows(run, index);
  return tensor(run.model, index).region() == fb::Region::tile ? all : all.from(run.row_begin);
}

/// `index` is an arena tensor of the step's rows: fixed i8 rows of `columns`; 0: any.
Verdict check_fixed_rows(const Site& site, int32_t index, uint32_t columns);

/// `index` is a constant vector of `length` numbers of this type.
Verdict check_numbers(const Site& site, int32_t index, fb::DType type, uint32_t length);

/// The op has its `Integer` constants, and its epilogue, if any, holds nothing but what `norm` allows: a residual and a layer
/// norm of `columns`.
Verdict check_integer(const Site& site, uint32_t columns, bool norm);

/// outputs[0] is fixed i8 rows of `columns`, or, if `may_be_f32`, f32 rows. No other output.
Verdict check_static_output(const Site& site, uint32_t columns, bool may_be_f32);

inline bool has_norm(const fb::Op& op) {
  return op.epilogue() != nullptr && op.epilogue()->norm() != fb::NormKind::none;
}
inline bool stores_f32(const fb::Model& model, const fb::Op& op) {
  return tensor(model, operand(op.outputs(), 0)).type() == fb::DType::f32;
}

/// Bytes that rows before the norm take in scratch; 0 without a norm. A multiple of 16.
uint64_t norm_scratch(const fb::Op& op, uint32_t columns, uint32_t block_rows);

/// Rows h [n, columns] of scratch, which are rows [first, first + n) of the tile, through residual and norm to outputs[0].
void finish_norm(const TileRun& run, const fb::Op& op, uint32_t columns, uint32_t first, uint32_t n);

/// Bytes of the row numbers of one table's block: 4 each, rounded up to 16.
inline size_t index_bytes(uint32_t block_rows) { return size_t{(block_rows + 3) / 4} * 16; }
/// Writes the row numbers that `table` is asked for by rows [first, first + n) of the run (embed.cpp).
void fill_indices(const TileRun& run, const fb::EmbedTable& table, uint32_t first, uint32_t n, int32_t* out);
/// Columns of an embedding: those of its first table (embed.cpp).
uint32_t embed_width(const fb::Model& model, const fb::Op& op);
/// What both forms of an embedding ask but for each table: 1 to kMaxEmbedTables of them, the first a matrix (embed.cpp).
Verdict check_embed(const Site& site);
/// No index that `table.source` can give reaches beyond the table's rows (embed.cpp).
Verdict check_indices(const Site& site, const fb::EmbedTable& table);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_STATIC_STATIC_H_
