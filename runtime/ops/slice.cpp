// Slice: columns [begin, begin + width) of x. If x or y is a state, it carries rows from the source pass to the main
// pass.
#include <string.h>

#include "ops/epilogue.h"
#include "ops/heads.h"

namespace bantam::ops {
namespace {

bool is_carried(const fb::Model& model, int32_t index) {
  return linked::kSources && index >= 0 && is_state(tensor(model, index));
}
bool takes_state(const fb::Model& model, const fb::Op& op) { return is_carried(model, operand(op.inputs(), 0)); }
bool leaves_row_state(const fb::Model& model, const fb::Op& op) { return is_carried(model, operand(op.outputs(), 0)); }

/// Checks an x that is a state: the main pass takes the row of each sequence's source. Page layouts only hold tokens.
[[maybe_unused]] Verdict check_taken(const Site& site, int32_t x) {
  const fb::Tensor& t = tensor(site.model, x);
  const bool fits = site.phase == fb::Phase::main && rows_symbol(t) == kSequences;
  return fits ? Verdict{} : corrupt("a slice takes a state that is not a row for each source, or in its own pass", x);
}

/// Checks a y that is a state: the source pass stores rows in it. Builds without Align refuse states that are rows of
/// tokens.
[[maybe_unused]] Verdict check_left(const Site& site, int32_t y, uint32_t columns) {
  const fb::Tensor& t = tensor(site.model, y);
  const bool fits = site.phase == fb::Phase::source && t.layout() == fb::Layout::rows &&
                    rows_symbol(t) == site.rows_symbol && width(t) == columns && operand(site.op.outputs(), 1) < 0;
  if (!fits) return corrupt("a slice leaves a state of other rows or columns, or not in the pass over a source", y);
  return check_no_epilogue(site);
}

Verdict verify_slice(const Site& site) {
  const fb::Slice& slice = *site.op.attributes_as_Slice();
  const int32_t x = operand(site.op.inputs(), 0);
  if (takes_state(site.model, site.op)) {
    BANTAM_CHECK(check_taken(site, x));
  } else {
    BANTAM_CHECK(check_row_input(site, 0, 0, false));
  }
  const uint32_t columns = width(tensor(site.model, x));
  if (slice.width() == 0 || slice.begin() > columns || slice.width() > columns - slice.begin()) {
    return corrupt("a slice reaches beyond its input", x);
  }
  if (leaves_row_state(site.model, site.op)) return check_left(site, operand(site.op.outputs(), 0), slice.width());
  return check_epilogue(site, slice.width());
}

uint64_t slice_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  if (leaves_row_state(model, op)) return 0;
  return sink_scratch(op, op.attributes_as_Slice()->width(), need.block_rows);
}

/// Returns the row of state `index` that the sequence of row `row` of the run writes or reads.
float* state_row(const TileRun& run, int32_t index, uint32_t row) {
  const uint32_t sequence = run.rows_symbol == kSequences ? row : find_sequence(run, row);
  return reinterpret_cast<float*>(page_base(run, index)) +
         size_t{run.sources->numbers[sequence]} * kernels::pad16(width(tensor(run.model, index)));
}

/// Returns the position of row `row` of the run in state `index`, which has rows of tokens.
[[maybe_unused]] float* token_row(const TileRun& run, int32_t index, uint32_t row) {
  const uint32_t sequence = find_sequence(run, row);
  return reinterpret_cast<float*>(page_base(run, index)) +
         size_t{source_row(run, sequence) + row - run.offsets[sequence]} *
             kernels::pad16(width(tensor(run.model, index)));
}

Status leave_state(const TileRun& run, const fb::Op& op) {
  const fb::Slice& slice = *op.attributes_as_Slice();
  const int32_t state = operand(op.outputs(), 0);
  const Rows x = tile_rows(run, operand(op.inputs(), 0));
  for (uint32_t i = 0; i < run.rows; ++i) {
    const uint32_t row = run.row_begin + i;
    const bool of_token = linked::op(linked::kOpAlign) && run.rows_symbol == kTokens;
    float* to = of_token ? token_row(run, state, row) : state_row(run, state, row);
    memcpy(to, x.from(i).f32() + slice.begin(), slice.width() * sizeof(float));
  }
  return Status::kOk;
}

Status run_slice(const TileRun& run, const fb::Op& op) {
  const fb::Slice& slice = *op.attributes_as_Slice();
  if (leaves_row_state(run.model, op)) return leave_state(run, op);
  const bool takes = takes_state(run.model, op);
  const int32_t input = operand(op.inputs(), 0);
  const Rows x = takes ? Rows{} : tile_rows(run, input);
  const RowSink sink(run, op, slice.width(), false);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      const float* row = takes ? state_row(run, input, run.row_begin + first + i) : x.from(first + i).f32();
      const float* from = row + slice.begin();
      float* to = sink.rows(first) + size_t{i} * sink.stride();
      for (uint32_t column = 0; column < slice.width(); ++column) to[column] = from[column];
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Slice, verify_slice, slice_scratch, run_slice);

}  // namespace bantam::ops
