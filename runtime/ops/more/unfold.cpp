// Unfold: concatenates each row with its neighbors.
#include "ops/epilogue.h"
#include "ops/more/neighbours.h"

namespace bantam::ops {
namespace {

uint32_t width_of_all(const fb::Model& model, const fb::Op& op) {
  return static_cast<uint32_t>(width(tensor(model, operand(op.inputs(), 0))) * reach_of(op).rows());
}

Verdict verify_unfold(const Site& site) {
  BANTAM_CHECK(check_neighbours(site));
  const int32_t x = operand(site.op.inputs(), 0);
  if (reach_of(site.op).rows() * width(tensor(site.model, x)) > kMaxWidth) {
    return corrupt("rows of too many neighbours", x);
  }
  return check_epilogue(site, width_of_all(site.model, site.op));
}

uint64_t unfold_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, width_of_all(model, op), need.block_rows);
}

/// Writes row `row` of the run with its neighbors in the sequence; zeros for missing ones.
void unfold_row(const Neighbours& rows, Reach reach, uint32_t sequence, uint32_t row, float* to) {
  const uint32_t columns = rows.columns();
  for (int64_t at = int64_t{row} - reach.before; at <= int64_t{row} + reach.after; ++at, to += columns) {
    const float* from = rows.at(sequence, at);
    if (from != nullptr) memcpy(to, from, columns * sizeof(float));
    if (from == nullptr) memset(to, 0, columns * sizeof(float));
  }
}

Status run_unfold(const TileRun& run, const fb::Op& op) {
  const Neighbours rows(run, op);
  const RowSink sink(run, op, width_of_all(run.model, op), false);
  uint32_t sequence = find_sequence(run, run.row_begin);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t row = run.row_begin + first + i;
      while (row >= run.offsets[sequence + 1]) ++sequence;
      unfold_row(rows, reach_of(op), sequence, row, sink.rows(first) + size_t{i} * sink.stride());
      rows.keep(sequence, row);
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Unfold, verify_unfold, unfold_scratch, run_unfold);

}  // namespace bantam::ops
