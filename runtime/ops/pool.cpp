// Pool: reduces each sequence's rows to one row.
#include <string.h>

#include "ops/epilogue.h"
#include "ops/pooled_rows.h"

namespace bantam::ops {
namespace {

static_assert(static_cast<int>(kernels::Pool::kSum) == static_cast<int>(fb::PoolKind::sum));

constexpr uint32_t kMostParts = 8;

/// Number of parts of the columns that are read from different rows; 1: all columns are read from the same rows.
uint32_t parts_of(const fb::Pool& pool) {
  const uint32_t parts = linked::kPoolParts ? count(pool.skip_last()) : 0;
  return parts == 0 ? 1 : parts;
}

Verdict verify_pool(const Site& site) {
  const fb::Pool& pool = *site.op.attributes_as_Pool();
  if (pool.kind() > fb::PoolKind::MAX) return corrupt("unknown pooling");
  if (!linked::pool(static_cast<uint32_t>(pool.kind())) || (!linked::kUnitLength && pool.l2()) ||
      (!linked::kPoolParts && count(pool.skip_last()) != 0) || skips_unlinked(pool)) {
    return not_linked("this build leaves the pooling out");
  }
  if (site.rows_symbol != kSequences) return corrupt("pooling runs over sequences");
  const int32_t x = operand(site.op.inputs(), 0);
  const fb::Tensor& t = tensor(site.model, x);
  // Activations are f32 or i8 with scales; fixed rows have no scales.
  if (!is_token_rows_of_any_type(t) || is_fixed(t)) {
    return corrupt("pooling reads shared f32 or i8 rows of tokens", x);
  }
  if (linked::kPoolParts) {
    const uint32_t parts = parts_of(pool);
    if (parts > kMostParts || width(t) % parts != 0 || (parts > 1 && pool.l2())) {
      return corrupt("the columns that are pooled do not fall into these parts", x);
    }
  }
  return check_epilogue(site, width(t));
}

/// Scratch for the sink's rows and, with several parts, a row for one part.
uint64_t pool_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  const uint32_t columns = input_width(model, op);
  const uint64_t part = parts_of(*op.attributes_as_Pool()) > 1 ? uint64_t{kernels::pad16(columns)} * sizeof(float) : 0;
  return sink_scratch(op, columns, need.block_rows) + part;
}

/// Reduces rows [begin, end) of all columns to one row.
bool pool_into(const TileRun& run, const fb::Pool& pool, const Rows& x, uint32_t columns, uint32_t begin, uint32_t end,
               float* y) {
  return run.kernels.pool_rows({x.q8 ? nullptr : x.f32(), x.q8 ? x.i8() : nullptr, x.scales, x.stride, begin, end,
                                columns, static_cast<kernels::Pool>(pool.kind()), pool.l2(), y});
}

/// Computes the row of a sequence. `row`: scratch for one row.
bool pool_sequence(const TileRun& run, const fb::Pool& pool, const Rows& x, uint32_t columns, uint32_t sequence,
                   float* row, float* y) {
  const auto [begin, end] = pooled_rows(run, pool, sequence);
  if (!linked::kPoolParts || count(pool.skip_last()) == 0) return pool_into(run, pool, x, columns, begin, end, y);
  const uint32_t parts = parts_of(pool), width = columns / parts;
  bool finite = true;
  for (uint32_t part = 0; part < parts; ++part) {
    const uint32_t skipped = pool.skip_last()->Get(part);
    const uint32_t stop = skipped < end - begin ? end - skipped : begin + 1;
    float* to = part == 0 ? y : row;
    finite &= pool_into(run, pool, x, columns, begin, stop, to);
    if (part != 0) memcpy(y + size_t{part} * width, row + size_t{part} * width, width * sizeof(float));
  }
  return finite;
}

Status run_pool(const TileRun& run, const fb::Op& op) {
  const fb::Pool& pool = *op.attributes_as_Pool();
  const uint32_t columns = input_width(run.model, op);
  const Rows x = all_rows(run, operand(op.inputs(), 0));
  const RowSink sink(run, op, columns, false);
  float* part = reinterpret_cast<float*>(run.scratch + sink_scratch(op, columns, run.block_rows));
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      finite &= pool_sequence(run, pool, x, columns, run.row_begin + first + i, part,
                              sink.rows(first) + size_t{i} * sink.stride());
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Pool, verify_pool, pool_scratch, run_pool);

}  // namespace bantam::ops
