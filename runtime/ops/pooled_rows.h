// Which rows of a sequence Pool reads.
#ifndef BANTAM_OPS_POOLED_ROWS_H_
#define BANTAM_OPS_POOLED_ROWS_H_

#include "ops/ops.h"

namespace bantam::ops {

/// Rows [begin, end) of all tokens; there is one at least.
struct PooledRows {
  uint32_t begin, end;
};

/// Rows of sequence `sequence` that `pool` reads: those without its first skip_first, and without the tokens skip_id at its
/// end. O(tokens that are left out at the end).
inline PooledRows pooled_rows(const TileRun& run, const fb::Pool& pool, uint32_t sequence) {
  PooledRows rows = {run.offsets[sequence], run.offsets[sequence + 1]};
  if (!linked::kPoolSkips) return rows;
  while (pool.skip_id() >= 0 && rows.end - rows.begin > 1 && run.ids[rows.end - 1] == pool.skip_id()) --rows.end;
  const uint32_t most = rows.end - rows.begin - 1;
  rows.begin += pool.skip_first() < most ? pool.skip_first() : most;
  return rows;
}

/// Does it leave rows out, though this build reads all?
inline bool skips_unlinked(const fb::Pool& pool) {
  return !linked::kPoolSkips && (pool.skip_first() != 0 || pool.skip_id() >= 0);
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_POOLED_ROWS_H_
