// RecurrentCell: one step of an LSTM or GRU layer; other operators have computed its gates.
#include <string.h>

#include "ops/epilogue.h"

namespace bantam::ops {
namespace {

constexpr uint32_t kBefore = 2, kCellsAfter = 2;  // in Op.inputs; in Op.outputs

uint32_t cell_width(const fb::Model& model, const fb::Op& op) {
  return width(tensor(model, operand(op.inputs(), kBefore)));
}

Verdict verify_recurrent_cell(const Site& site) {
  const fb::Cell cell = site.op.attributes_as_RecurrentCell()->cell();
  if (cell > fb::Cell::gru) return unsupported("steps are those of LSTM and GRU cells");
  BANTAM_CHECK(check_row_input(site, kBefore, 0, false));
  const uint32_t columns = cell_width(site.model, site.op);
  if (columns > kMaxWidth / 8) return unsupported("a recurrent layer is too wide");
  const uint32_t gates = (cell == fb::Cell::lstm ? 4 : 3) * kernels::pad16(columns);
  for (uint32_t i = 0; i < kBefore; ++i) BANTAM_CHECK(check_row_input(site, i, gates, false));
  const int32_t cells = operand(site.op.outputs(), kCellsAfter);
  if ((cell == fb::Cell::lstm) != (cells >= 0)) return corrupt("LSTM cells, and no others, leave cells");
  if (cells >= 0) {
    const fb::Tensor& t = tensor(site.model, cells);
    BANTAM_CHECK(check_step_rows(site, cells));
    const bool fits = t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows && width(t) == columns;
    if (!fits) return corrupt("the cells that a step leaves are not f32 rows of their width", cells);
  }
  return check_epilogue(site, columns);
}

uint64_t recurrent_cell_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, cell_width(model, op), need.block_rows);
}

Status run_recurrent_cell(const TileRun& run, const fb::Op& op) {
  const uint32_t columns = cell_width(run.model, op);
  const RowSink sink(run, op, columns, false);
  const Rows x = tile_rows(run, operand(op.inputs(), 0)), s = tile_rows(run, operand(op.inputs(), 1)),
             before = tile_rows(run, operand(op.inputs(), kBefore));
  const int32_t cells = operand(op.outputs(), kCellsAfter);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      kernels::RecurrentRow row;
      row.x = x.from(first + i).f32();
      row.s = s.from(first + i).f32();
      row.width = columns;
      row.h = sink.rows(first) + size_t{i} * sink.stride();
      row.c = cells < 0 ? nullptr : tile_rows(run, cells).from(first + i).f32();
      memcpy(row.c == nullptr ? row.h : row.c, before.from(first + i).f32(), columns * sizeof(float));
      finite &= run.kernels.recurrent_row(row);
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(RecurrentCell, verify_recurrent_cell, recurrent_cell_scratch, run_recurrent_cell);

}  // namespace bantam::ops
