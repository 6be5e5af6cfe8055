// Select: adds to each row the sequence's row with a certain rank by score, or the mean of its rows weighted by the
// softmax of the scores.
#include "ops/more/select.h"

#include <string.h>

#include "ops/epilogue.h"

namespace bantam::ops {
namespace {

uint32_t selected_width(const fb::Model& model, const fb::Op& op) {
  return width(tensor(model, operand(op.inputs(), 1)));
}

/// Checks scores or rows of the whole sequence.
Verdict check_of_sequence(const Site& site, int32_t index, uint32_t columns) {
  const fb::Tensor& t = tensor(site.model, index);
  return is_token_rows(t) && width(t) == columns
             ? Verdict{}
             : corrupt("rows are selected from shared f32 rows of tokens by scores of one column", index);
}

Verdict verify_select(const Site& site) {
  const fb::Select& select = *site.op.attributes_as_Select();
  if (site.rows_symbol != kTokens) return corrupt("rows that are selected are those of tokens");
  if (select.rank() >= kMostRanks) return corrupt("a row of too low a score is selected");
  if (select.mean() && !linked::activation(static_cast<uint32_t>(fb::ActivationKind::exp))) {
    return not_linked("this build leaves out the activation that a mean by scores is computed with");
  }
  BANTAM_CHECK(check_row_input(site, 1, 0, false));
  const uint32_t columns = selected_width(site.model, site.op);
  BANTAM_CHECK(check_of_sequence(site, operand(site.op.inputs(), 0), 1));
  BANTAM_CHECK(check_of_sequence(site, operand(site.op.inputs(), 2), columns));
  return check_epilogue(site, columns);
}

/// Scratch for the epilogue and, after it, a row.
uint64_t select_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  const uint32_t columns = selected_width(model, op);
  return sink_scratch(op, columns, need.block_rows) + uint64_t{sizeof(float)} * kernels::pad16(columns);
}

/// Computes the row that is added to the rows of a sequence.
class Selected {
 public:
  Selected(const TileRun& run, const fb::Op& op)
      : run_(run),
        select_(*op.attributes_as_Select()),
        scores_(all_rows(run, operand(op.inputs(), 0))),
        y_(all_rows(run, operand(op.inputs(), 2))),
        columns_(selected_width(run.model, op)),
        mean_(reinterpret_cast<float*>(run.scratch + sink_scratch(op, columns_, run.block_rows))) {}

  /// Returns the row for `sequence`, which has at least one row.
  const float* of(uint32_t sequence) {
    const uint32_t begin = run_.offsets[sequence], end = run_.offsets[sequence + 1];
    if (!select_.mean()) return y_.from(row_of_rank(begin, end)).f32();
    average(begin, end);
    return mean_;
  }

 private:
  float score(uint32_t row) const { return *scores_.from(row).f32(); }

  uint32_t row_of_rank(uint32_t begin, uint32_t end) const {
    uint32_t last = end;  // none so far
    for (uint32_t rank = 0; rank <= select_.rank(); ++rank) {
      uint32_t best = end;
      for (uint32_t row = begin; row < end; ++row) {
        const float s = score(row);
        const bool is_behind = last == end || s < score(last) || (s == score(last) && row > last);
        if (is_behind && (best == end || s > score(best))) best = row;
      }
      if (best == end) break;
      last = best;
    }
    return last;
  }

  void average(uint32_t begin, uint32_t end) {
    constexpr uint32_t kBlock = 16;
    float most = score(begin), sum = 0;
    for (uint32_t row = begin; row < end; ++row) most = score(row) > most ? score(row) : most;
    memset(mean_, 0, sizeof(float) * columns_);
    for (uint32_t first = begin; first < end; first += kBlock) {
      const uint32_t count = end - first < kBlock ? end - first : kBlock;
      alignas(64) float shares[kBlock] = {};
      for (uint32_t i = 0; i < count; ++i) shares[i] = score(first + i) - most;
      kernels::EpilogueRows args = {};
      args.x = args.y = shares;
      args.x_stride = args.y_stride = kBlock;
      args.rows = 1;
      args.width = count;
      args.activation = kernels::Activation::kExp;
      static_cast<void>(run_.kernels.epilogue_rows(args));  // the output rows show values that are not finite
      for (uint32_t i = 0; i < count; ++i) {
        sum += shares[i];
        const float* y = y_.from(first + i).f32();
        for (uint32_t k = 0; k < columns_; ++k) mean_[k] += shares[i] * y[k];
      }
    }
    for (uint32_t k = 0; k < columns_; ++k) mean_[k] /= sum;
  }

  const TileRun& run_;
  const fb::Select& select_;
  const Rows scores_, y_;
  const uint32_t columns_;
  float* const mean_;
};

/// Computes to = a + b. Returns true if all elements are finite.
bool add_rows(const float* a, const float* b, uint32_t columns, float* to) {
  float all = 0;
  for (uint32_t k = 0; k < columns; ++k) {
    to[k] = a[k] + b[k];
    all += to[k] * 0.0f;
  }
  return all == 0;
}

Status run_select(const TileRun& run, const fb::Op& op) {
  const Rows x = tile_rows(run, operand(op.inputs(), 1));
  const uint32_t columns = selected_width(run.model, op);
  const RowSink sink(run, op, columns, false);
  Selected selected(run, op);
  uint32_t sequence = find_sequence(run, run.row_begin);
  const float* added = nullptr;
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      for (; run.row_begin + first + i >= run.offsets[sequence + 1]; ++sequence) added = nullptr;
      if (added == nullptr) added = selected.of(sequence);
      finite &= add_rows(x.from(first + i).f32(), added, columns, sink.rows(first) + size_t{i} * sink.stride());
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Select, verify_select, select_scratch, run_select);

}  // namespace bantam::ops
