// ScratchReverse: the columns of x in reverse order, each times a factor. tests/recipes/scratch.py adds this operator
// to a copy of the tree.
#include "ops/epilogue.h"

namespace bantam::ops {
namespace {

Verdict verify_reverse(const Site& site) {
  BANTAM_CHECK(check_row_input(site, 0, 0, false));
  const uint32_t columns = input_width(site.model, site.op);
  BANTAM_CHECK(check_vector(site, operand(site.op.inputs(), 1), columns, "factors are not one for each column"));
  return check_epilogue(site, columns);
}

uint64_t reverse_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, input_width(model, op), need.block_rows);
}

Status run_reverse(const TileRun& run, const fb::Op& op) {
  const Rows x = tile_rows(run, operand(op.inputs(), 0));
  const auto* factors = constant<float>(run, operand(op.inputs(), 1));
  const uint32_t columns = input_width(run.model, op);
  const RowSink sink(run, op, columns, false);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      const float* from = x.from(first + i).f32();
      float* to = sink.rows(first) + size_t{i} * sink.stride();
      for (uint32_t column = 0; column < columns; ++column) {
        to[column] = from[columns - 1 - column] * factors[column];
      }
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(ScratchReverse, verify_reverse, reverse_scratch, run_reverse);

}  // namespace bantam::ops
