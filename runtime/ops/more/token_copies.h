// Operators over sequences that write f32 rows of tokens, and int8 copies of them for layers with integer weights.
#ifndef BANTAM_OPS_MORE_TOKEN_COPIES_H_
#define BANTAM_OPS_MORE_TOKEN_COPIES_H_

#include "ops/operands.h"

namespace bantam::ops {

/// Checks `rows`, which must be shared f32 rows of tokens, and `copies`, which is -1 or the same as i8.
inline Verdict check_token_copies(const Site& site, int32_t rows, int32_t copies, uint32_t columns) {
  if (rows < 0) return corrupt("an operator over sequences leaves no rows");
  for (const int32_t index : {rows, copies}) {
    if (index < 0) continue;
    const fb::Tensor& t = tensor(site.model, index);
    const fb::DType type = index == rows ? fb::DType::f32 : fb::DType::i8;
    const bool fits = is_token_rows_of_any_type(t) && !is_fixed(t) && t.type() == type && width(t) == columns;
    if (!fits) return corrupt("rows of an operator over sequences are of another kind, type or width", index);
  }
  return {};
}

/// Quantizes the rows of the tile's sequences into the copies, if there are any.
inline bool copy_token_rows(const TileRun& run, int32_t rows, int32_t copies) {
  if (!linked::kDynamic || copies < 0) return true;
  const uint32_t begin = run.offsets[run.row_begin], end = run.offsets[run.row_begin + run.rows];
  const Rows x = all_rows(run, rows).from(begin), q = all_rows(run, copies).from(begin);
  kernels::EpilogueRows args = {};
  args.x = x.f32();
  args.rows = end - begin;
  args.width = width(tensor(run.model, copies));
  args.x_stride = args.q_stride = x.stride;
  args.q = q.i8();
  args.q_scale = q.scales;
  return run.kernels.epilogue_rows(args);
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_TOKEN_COPIES_H_
