// Slice: columns [begin, begin + width) of x.
#include "ops/epilogue.h"

namespace bantam::ops {
namespace {

Verdict verify_slice(const Site& site) {
  const fb::Slice& slice = *site.op.attributes_as_Slice();
  BANTAM_CHECK(check_row_input(site, 0, 0, false));
  const int32_t x = operand(site.op.inputs(), 0);
  const uint32_t columns = width(tensor(site.model, x));
  if (slice.width() == 0 || slice.begin() > columns || slice.width() > columns - slice.begin()) {
    return corrupt("a slice reaches beyond its input", x);
  }
  return check_epilogue(site, slice.width());
}

uint64_t slice_scratch(const fb::Model&, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, op.attributes_as_Slice()->width(), need.block_rows);
}

Status run_slice(const TileRun& run, const fb::Op& op) {
  const fb::Slice& slice = *op.attributes_as_Slice();
  const Rows x = tile_rows(run, operand(op.inputs(), 0));
  const RowSink sink(run, op, slice.width(), false);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0; i < n; ++i) {
      const float* from = x.from(first + i).f32() + slice.begin();
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
