// Unfold: each row beside its neighbours.
#include <string.h>

#include "ops/epilogue.h"
#include "ops/heads.h"
#include "ops/unfold.h"

namespace bantam::ops {
namespace {

uint32_t width_of_one(const fb::Model& model, const fb::Op& op) {
  return width(tensor(model, operand(op.inputs(), 0)));
}

uint32_t width_of_all(const fb::Model& model, const fb::Op& op) {
  const fb::Unfold& unfold = *op.attributes_as_Unfold();
  return width_of_one(model, op) * (unfold.before() + 1 + unfold.after());
}

Verdict verify_unfold(const Site& site) {
  const fb::Unfold& unfold = *site.op.attributes_as_Unfold();
  if (site.rows_symbol != kTokens) return corrupt("neighbours are those of tokens");
  const int32_t x = operand(site.op.inputs(), 0);
  const fb::Tensor& t = tensor(site.model, x);
  if (is_constant(t) || t.region() != fb::Region::shared || rows_symbol(t) != kTokens || t.type() != fb::DType::f32 ||
      t.layout() != fb::Layout::rows) {
    return corrupt("rows beside their neighbours are read from shared f32 rows of tokens", x);
  }
  const uint64_t parts = uint64_t{unfold.before()} + 1 + unfold.after();
  if (parts * width(t) > kMaxWidth) return corrupt("rows of too many neighbours", x);
  return check_epilogue(site, width_of_all(site.model, site.op));
}

uint64_t unfold_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, width_of_all(model, op), need.block_rows);
}

/// Row `row` of the run with its neighbours in the sequence: those in front of the run are what its context has kept.
void unfold_row(const TileRun& run, const fb::Op& op, const Rows& x, uint32_t sequence, uint32_t row, float* to) {
  const fb::Unfold& unfold = *op.attributes_as_Unfold();
  const uint32_t columns = width_of_one(run.model, op);
  const int64_t begin = run.offsets[sequence], end = run.offsets[sequence + 1];
  const int64_t past = place_of(run, sequence, run.offsets[sequence]);
  for (int64_t at = int64_t{row} - unfold.before(); at <= int64_t{row} + unfold.after(); ++at, to += columns) {
    const float* from = nullptr;
    if (at >= begin && at < end) {
      from = x.from(static_cast<uint32_t>(at)).f32();
    } else if (linked::kContexts && at < begin && begin - at <= past) {
      from = kept_row(run, kept_number(op), columns, sequence, static_cast<uint32_t>(past - (begin - at)));
    }
    if (from != nullptr) memcpy(to, from, columns * sizeof(float));
    if (from == nullptr) memset(to, 0, columns * sizeof(float));
  }
}

/// Puts what the run has of the sequence in its context. Who computes the last row does it: the step may run on that one alone.
[[maybe_unused]] void keep_sequence(const TileRun& run, const fb::Op& op, const Rows& x, uint32_t sequence) {
  const uint32_t columns = width_of_one(run.model, op);
  for (uint32_t row = run.offsets[sequence]; row < run.offsets[sequence + 1]; ++row) {
    float* kept = kept_row(run, kept_number(op), columns, sequence, place_of(run, sequence, row));
    memcpy(kept, x.from(row).f32(), columns * sizeof(float));
  }
}

Status run_unfold(const TileRun& run, const fb::Op& op) {
  const Rows x = all_rows(run, operand(op.inputs(), 0));
  const RowSink sink(run, op, width_of_all(run.model, op), false);
  uint32_t sequence = find_sequence(run, run.row_begin);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t row = run.row_begin + first + i;
      while (row >= run.offsets[sequence + 1]) ++sequence;
      unfold_row(run, op, x, sequence, row, sink.rows(first) + size_t{i} * sink.stride());
      if constexpr (linked::kContexts) {
        const bool keeps = run.contexts != nullptr && row + 1 == run.offsets[sequence + 1] && keeps_unfolded(op);
        if (keeps) keep_sequence(run, op, x, sequence);
      }
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

uint64_t kept_unfolded_bytes(const fb::Model& model, const fb::Op& op) {
  return uint64_t{kernels::pad16(width_of_one(model, op))} * sizeof(float);
}

BANTAM_RULE(Unfold, verify_unfold, unfold_scratch, run_unfold);

}  // namespace bantam::ops
