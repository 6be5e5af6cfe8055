// The rows of a sequence that Pool reads.
#ifndef BANTAM_OPS_POOLED_ROWS_H_
#define BANTAM_OPS_POOLED_ROWS_H_

#include "ops/ops.h"

namespace bantam::ops {

/// Rows [begin, end) of all tokens; at least one.
struct PooledRows {
  uint32_t begin, end;
};

/// Returns the rows of `sequence` that `pool` reads: without the first skip_first, and without tokens with id skip_id
/// at its end. O(tokens skipped at the end).
inline PooledRows pooled_rows(const TileRun& run, const fb::Pool& pool, uint32_t sequence) {
  PooledRows rows = {run.offsets[sequence], run.offsets[sequence + 1]};
  if (!linked::kPoolSkips) return rows;
  while (pool.skip_id() >= 0 && rows.end - rows.begin > 1 && run.ids[rows.end - 1] == pool.skip_id()) --rows.end;
  const uint32_t most = rows.end - rows.begin - 1;
  rows.begin += pool.skip_first() < most ? pool.skip_first() : most;
  return rows;
}

/// Returns true if it skips rows although this build reads all of them.
inline bool skips_unlinked(const fb::Pool& pool) {
  return !linked::kPoolSkips && (pool.skip_first() != 0 || pool.skip_id() >= 0);
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_POOLED_ROWS_H_
