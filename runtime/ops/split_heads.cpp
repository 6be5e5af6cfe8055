// SplitHeads: f32 rows [q | k | v] to the layouts that attention reads.
#include "ops/epilogue.h"
#include "ops/heads.h"

namespace bantam::ops {
namespace {

Verdict verify(const Site& site) {
  const fb::SplitHeads& split = *site.op.attributes_as_SplitHeads();
  BANTAM_CHECK(check_no_epilogue(site));
  const HeadShape shape = {split.heads(), split.kv_heads(), split.head_width()};
  BANTAM_CHECK(check_split_shape(shape));
  if (site.rows_symbol != kTokens) return corrupt("heads are split over tokens");
  BANTAM_CHECK(check_row_input(site, 0, (shape.heads + 2 * shape.kv_heads) * shape.head_width, false));
  const int32_t q = operand(site.op.outputs(), 0);
  const int32_t k = operand(site.op.outputs(), 1);
  const int32_t v = operand(site.op.outputs(), 2);
  BANTAM_CHECK(check_head_tensors(site, shape, q, k, v));
  if (q >= 0 && k >= 0 && tensor(site.model, q).region() == fb::Region::tile) {
    return corrupt("queries of a tile are split alone", q);
  }
  return {};
}

uint64_t scratch(const fb::Model&, const fb::Op&, const ScratchNeed&) { return 0; }

Status run_split(const TileRun& run, const fb::Op& op) {
  const fb::SplitHeads& split = *op.attributes_as_SplitHeads();
  const Rows x = tile_rows(run, operand(op.inputs(), 0));
  const int32_t q = operand(op.outputs(), 0);
  const int32_t k = operand(op.outputs(), 1);
  kernels::SplitHeads args = {};
  args.x = x.f32();
  args.x_stride = x.stride;
  args.row_begin = run.row_begin;
  args.rows = run.rows;
  args.heads = split.heads();
  args.kv_heads = split.kv_heads();
  args.head_width = split.head_width();
  args.q8 = is_q8(run, tensor(run.model, q >= 0 ? q : k));
  if (q >= 0) {
    const QueryRows queries = query_rows(run, q);
    args.row_begin = queries.row_begin;
    args.q = queries.data;
    args.q_stride = queries.stride;
    args.q_scale = queries.scales;
  }
  if (k >= 0) {
    args.key_pages = head_base(run, tensor(run.model, k));
    args.value_pages = head_base(run, tensor(run.model, operand(op.outputs(), 2)));
  }
  return run.kernels.split_heads(args) ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(SplitHeads, verify, scratch, run_split);

}  // namespace bantam::ops
