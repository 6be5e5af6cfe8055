// Previous: the row of the preceding token, in a step that runs token by token.
#include "ops/more/previous.h"

#include <string.h>

#include "ops/epilogue.h"
#include "ops/heads.h"

namespace bantam::ops {
namespace {

constexpr uint32_t kFirstRow = 1;  // in Op.inputs

Verdict verify_previous(const Site& site) {
  if (site.rows_symbol != kTokens || site.phase != fb::Phase::main) {
    return corrupt("what reads the token before runs over tokens of the main pass");
  }
  const int32_t x = operand(site.op.inputs(), 0);
  if (!is_token_rows(tensor(site.model, x))) return corrupt("rows of tokens before are shared f32 rows of tokens", x);
  const uint32_t columns = width(tensor(site.model, x));
  const int32_t first = operand(site.op.inputs(), kFirstRow);
  if (first >= 0) {
    const fb::Tensor& t = tensor(site.model, first);
    const bool fits = rows_symbol(t) == kSequences && !is_state(t) && t.type() == fb::DType::f32 &&
                      t.layout() == fb::Layout::rows && width(t) == columns;
    if (!fits) return corrupt("what a first token takes is not f32 rows of sequences of the same width", first);
  }
  return check_epilogue(site, columns);
}

uint64_t previous_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, input_width(model, op), need.block_rows);
}

/// Returns the row before row `row` of the run; null: zeros.
const float* row_before(const TileRun& run, const fb::Op& op, uint32_t sequence, uint32_t row) {
  if (row != run.offsets[sequence]) return all_rows(run, operand(op.inputs(), 0)).from(row - 1).f32();
  const uint32_t place = place_of(run, sequence, row);
  if (place != 0) return kept_row(run, operand(op.inputs(), 0), input_width(run.model, op), sequence, place - 1);
  const int32_t first = operand(op.inputs(), kFirstRow);
  return first < 0 ? nullptr : all_rows(run, first).from(sequence).f32();
}

Status run_previous(const TileRun& run, const fb::Op& op) {
  const uint32_t columns = input_width(run.model, op);
  const RowSink sink(run, op, columns, false);
  uint32_t sequence = find_sequence(run, run.row_begin);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t row = run.row_begin + first + i;
      while (row >= run.offsets[sequence + 1]) ++sequence;
      const float* from = row_before(run, op, sequence, row);
      float* to = sink.rows(first) + size_t{i} * sink.stride();
      if (from != nullptr) memcpy(to, from, columns * sizeof(float));
      if (from == nullptr) memset(to, 0, columns * sizeof(float));
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

uint64_t kept_row_bytes(const fb::Model& model, const fb::Op& op) {
  return uint64_t{kernels::pad16(input_width(model, op))} * sizeof(float);
}

void keep_rows(const TileRun& run, const fb::Op& op) {
  const Rows x = all_rows(run, operand(op.inputs(), 0));
  uint32_t sequence = find_sequence(run, run.row_begin);
  for (uint32_t row = run.row_begin; row < run.row_begin + run.rows; ++row) {
    while (row >= run.offsets[sequence + 1]) ++sequence;
    float* kept =
        kept_row(run, operand(op.inputs(), 0), input_width(run.model, op), sequence, place_of(run, sequence, row));
    memcpy(kept, x.from(row).f32(), x.stride * sizeof(float));
  }
}

BANTAM_RULE(Previous, verify_previous, previous_scratch, run_previous);

}  // namespace bantam::ops
