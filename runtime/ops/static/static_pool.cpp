// Pool and Row in integer arithmetic: one row per sequence, or each row as f32 for an output.
#include "ops/pooled_rows.h"
#include "ops/static/static.h"

namespace bantam::ops {
namespace {

Verdict check_scales(const Site& site, uint32_t columns) {
  BANTAM_CHECK(check_integer(site, 0, false));
  BANTAM_CHECK(check_static_output(site, columns, true));
  return stores_f32(site.model, site.op)
             ? check_numbers(site, named_input(site.op, site.op.integer()->multiplier()), fb::DType::f32, columns)
             : Verdict{};
}

Verdict verify_static_pool(const Site& site) {
  const fb::Pool& pool = *site.op.attributes_as_Pool();
  if (pool.kind() > fb::PoolKind::MAX) return corrupt("unknown pooling");
  if (count(pool.skip_last()) != 0) return unsupported("integer pooling takes all columns from the same rows");
  if (skips_unlinked(pool)) return not_linked("this build leaves the pooling out");
  if (site.rows_symbol != kSequences) return corrupt("pooling runs over sequences");
  const int32_t x = operand(site.op.inputs(), 0);
  const fb::Tensor& t = tensor(site.model, x);
  if (!is_token_rows_of_any_type(t) || !is_fixed(t)) {
    return corrupt("integer pooling reads shared i8 rows of tokens", x);
  }
  BANTAM_CHECK(check_scales(site, width(t)));
  const bool sums = pool.kind() == fb::PoolKind::mean || pool.kind() == fb::PoolKind::sum || pool.l2();
  return sums && !stores_f32(site.model, site.op) ? unsupported("sums over rows are stored as f32 only") : Verdict{};
}

Verdict verify_static_row(const Site& site) {
  BANTAM_CHECK(check_fixed_rows(site, operand(site.op.inputs(), 0), 0));
  BANTAM_CHECK(check_scales(site, input_width(site.model, site.op)));
  return stores_f32(site.model, site.op) ? Verdict{} : unsupported("an integer row operation stores f32 only");
}

/// Computes row `to` of the tile's output from rows [begin, end) of x.
void pool_row(const TileRun& run, const fb::Op& op, const FixedRows& x, uint32_t begin, uint32_t end, fb::PoolKind kind,
              bool l2, uint32_t to) {
  kernels::StaticPool args = {};
  args.x = x.data;
  args.x_stride = x.stride;
  args.row_begin = begin;
  args.row_end = end;
  args.width = input_width(run.model, op);
  args.kind = static_cast<kernels::Pool>(kind);
  args.l2 = l2;
  const int32_t output = operand(op.outputs(), 0);
  if (stores_f32(run.model, op)) {
    args.y_f32 = tile_rows(run, output).from(to).f32();
    args.scale = constant<float>(run, named_input(op, op.integer()->multiplier()));
  } else {
    args.y = fixed_tile_rows(run, output).from(to).data;
  }
  run.kernels.static_pool(args);
}

Status run_static_pool(const TileRun& run, const fb::Op& op) {
  const fb::Pool& pool = *op.attributes_as_Pool();
  const FixedRows x = fixed_rows(run, operand(op.inputs(), 0));
  for (uint32_t i = 0; i < run.rows; ++i) {
    const PooledRows rows = pooled_rows(run, pool, run.row_begin + i);
    pool_row(run, op, x, rows.begin, rows.end, pool.kind(), pool.l2(), i);
  }
  return Status::kOk;
}

Status run_static_row(const TileRun& run, const fb::Op& op) {
  const FixedRows x = fixed_tile_rows(run, operand(op.inputs(), 0));
  for (uint32_t i = 0; i < run.rows; ++i) pool_row(run, op, x, i, i + 1, fb::PoolKind::first, false, i);
  return Status::kOk;
}

}  // namespace

BANTAM_RULE(StaticRow, verify_static_row, no_scratch, run_static_row);
BANTAM_RULE(StaticPool, verify_static_pool, no_scratch, run_static_pool);

}  // namespace bantam::ops
