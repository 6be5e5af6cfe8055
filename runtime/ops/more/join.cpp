// Join: concatenates rows.
#include <string.h>

#include "ops/epilogue.h"

namespace bantam::ops {
namespace {

constexpr uint32_t kJoined = 2;

uint32_t joined_width(const fb::Model& model, const fb::Op& op) {
  uint32_t columns = 0;
  for (uint32_t i = 0; i < kJoined; ++i) columns += width(tensor(model, operand(op.inputs(), i)));
  return columns;
}

Verdict verify_join(const Site& site) {
  uint64_t columns = 0;
  for (uint32_t i = 0; i < kJoined; ++i) {
    BANTAM_CHECK(check_row_input(site, i, 0, false));
    columns += width(tensor(site.model, operand(site.op.inputs(), i)));
  }
  if (columns > kMaxWidth) return corrupt("rows side by side are too wide", operand(site.op.inputs(), 0));
  return check_epilogue(site, static_cast<uint32_t>(columns));
}

uint64_t join_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, joined_width(model, op), need.block_rows);
}

Status run_join(const TileRun& run, const fb::Op& op) {
  const RowSink sink(run, op, joined_width(run.model, op), false);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    float* begin = sink.rows(first);
    for (uint32_t i = 0; i < kJoined; ++i) {
      const int32_t index = operand(op.inputs(), i);
      const uint32_t columns = width(tensor(run.model, index));
      const Rows x = tile_rows(run, index);
      for (uint32_t row = 0; row < n; ++row) {
        memcpy(begin + size_t{row} * sink.stride(), x.from(first + row).f32(), columns * sizeof(float));
      }
      begin += columns;
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Join, verify_join, join_scratch, run_join);

}  // namespace bantam::ops
