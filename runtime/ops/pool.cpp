// Pool: one row for each sequence from that sequence's rows.
#include "ops/epilogue.h"

namespace bantam::ops {
namespace {

static_assert(static_cast<int>(kernels::Pool::kSum) == static_cast<int>(fb::PoolKind::sum));

Verdict verify_pool(const Site& site) {
  if (site.op.attributes_as_Pool()->kind() > fb::PoolKind::MAX) return corrupt("unknown pooling");
  if (!linked::pool(static_cast<uint32_t>(site.op.attributes_as_Pool()->kind())) ||
      (!linked::kUnitLength && site.op.attributes_as_Pool()->l2())) {
    return not_linked("this build leaves the pooling out");
  }
  if (site.rows_symbol != kSequences) return corrupt("pooling runs over sequences");
  const int32_t x = operand(site.op.inputs(), 0);
  const fb::Tensor& t = tensor(site.model, x);
  if (is_constant(t) || t.region() != fb::Region::shared || rows_symbol(t) != kTokens ||
      (t.type() != fb::DType::f32 && t.type() != fb::DType::i8) || t.layout() != fb::Layout::rows) {
    return corrupt("pooling reads shared f32 or i8 rows of tokens", x);
  }
  return check_epilogue(site, width(t));
}

uint64_t pool_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, input_width(model, op), need.block_rows);
}

Status run_pool(const TileRun& run, const fb::Op& op) {
  const fb::Pool& pool = *op.attributes_as_Pool();
  const uint32_t columns = input_width(run.model, op);
  const Rows x = all_rows(run, operand(op.inputs(), 0));
  const RowSink sink(run, op, columns, false);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t sequence = run.row_begin + first + i;
      finite &= run.kernels.pool_rows({x.q8 ? nullptr : x.f32(), x.q8 ? x.i8() : nullptr, x.scales, x.stride,
                                       run.offsets[sequence], run.offsets[sequence + 1], columns,
                                       static_cast<kernels::Pool>(pool.kind()), pool.l2(),
                                       sink.rows(first) + size_t{i} * sink.stride()});
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Pool, verify_pool, pool_scratch, run_pool);

}  // namespace bantam::ops
