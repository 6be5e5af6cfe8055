// Row: only an epilogue. Copy: replaces an unknown operator that allows it.
#include "ops/epilogue.h"

namespace bantam::ops {
namespace {

Verdict verify_row(const Site& site) {
  BANTAM_CHECK(check_row_input(site, 0, 0, false));
  return check_epilogue(site, input_width(site.model, site.op));
}

Status run_row(const TileRun& run, const fb::Op& op) {
  const Rows x = tile_rows(run, operand(op.inputs(), 0));
  const RowSink sink(run, op, input_width(run.model, op), false);
  return sink.apply(0, run.rows, x.f32(), x.stride) ? Status::kOk : Status::kNonFinite;
}

Verdict verify_copy(const Site& site) {
  const int32_t x = operand(site.op.inputs(), 0);
  const int32_t y = operand(site.op.outputs(), 0);
  BANTAM_CHECK(check_row_input(site, 0, 0, false));
  BANTAM_CHECK(check_step_rows(site, y));
  for (uint32_t i = 1; i < count(site.op.outputs()); ++i) {
    if (operand(site.op.outputs(), i) >= 0) return unsupported("an unknown op with several outputs cannot be left out");
  }
  const fb::Tensor& to = tensor(site.model, y);
  const bool same =
      to.layout() == fb::Layout::rows && to.type() == fb::DType::f32 && width(to) == width(tensor(site.model, x));
  return same ? Verdict{} : unsupported("an unknown op whose output differs in shape cannot be left out", y);
}

Status run_copy(const TileRun& run, const fb::Op& op) {
  const Rows x = tile_rows(run, operand(op.inputs(), 0));
  const Rows y = tile_rows(run, operand(op.outputs(), 0));
  const float* from = x.f32();
  float* to = y.f32();
  for (size_t i = 0; i < size_t{run.rows} * x.stride; ++i) to[i] = from[i];
  return Status::kOk;
}

}  // namespace

BANTAM_RULE(Row, verify_row, no_scratch, run_row);
BANTAM_RULE(Copy, verify_copy, no_scratch, run_copy);

}  // namespace bantam::ops
