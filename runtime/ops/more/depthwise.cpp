// Depthwise: a convolution over tokens, separately for each column. epilogue_rows is the inner loop: as a gate, the
// weights of a position multiply the row of that neighbor; as a residual, it adds the sum of the positions before it.
#include "ops/epilogue.h"
#include "ops/more/neighbours.h"

namespace bantam::ops {
namespace {

constexpr uint32_t kPlaceWeights = 1;

uint32_t convolved_width(const fb::Model& model, const fb::Op& op) {
  return width(tensor(model, operand(op.inputs(), 0)));
}

Verdict verify_depthwise(const Site& site) {
  if (!linked::kGate) return not_linked("this build leaves gates out");
  BANTAM_CHECK(check_neighbours(site));
  const fb::Depthwise& convolution = *site.op.attributes_as_Depthwise();
  if (convolution.latest()) {
    if (linked::kContexts && !linked::kStates) return not_linked("this build leaves states out");
    if (convolution.before() == 0 || convolution.after() != 0) {
      return corrupt("the latest rows are those in front of a token");
    }
  }
  const uint32_t columns = convolved_width(site.model, site.op);
  const int32_t index = operand(site.op.inputs(), kPlaceWeights);
  const fb::Tensor& t = tensor(site.model, index);
  const bool fits = is_constant(t) && t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows &&
                    t.shape()->size() == 2 && extent(t, 0) == reach_of(site.op).rows() &&
                    extent(t, 1) == kernels::pad16(columns);
  if (!fits) return corrupt("weights of a depthwise convolution are not an f32 row for each neighbour", index);
  return check_epilogue(site, columns);
}

uint64_t depthwise_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, convolved_width(model, op), need.block_rows);
}

/// Computes y for `count` rows of a sequence from `row` on: 0 plus, from the first to the last position, the neighbor's
/// row times the position's weights. Contiguous rows are computed together; each row has the same bits as if computed
/// alone.
bool convolve_rows(const TileRun& run, const Neighbours& rows, Reach reach, const float* weights, uint32_t sequence,
                   uint32_t row, uint32_t count, float* y) {
  const size_t stride = kernels::pad16(rows.columns());
  memset(y, 0, count * stride * sizeof(float));
  kernels::EpilogueRows args = {};
  args.width = rows.columns();
  args.x_stride = args.residual_stride = args.y_stride = stride;
  args.gate = weights;  // the same for all rows: the stride is 0
  bool finite = true;
  for (int64_t place = -int64_t{reach.before}; place <= int64_t{reach.after}; ++place, args.gate += stride) {
    for (uint32_t i = 0; i < count; i += args.rows) {
      const int64_t at = int64_t{row} + i + place;
      args.x = rows.at(sequence, at);
      args.rows = rows.together(sequence, at, count - i);
      args.residual = args.y = y + i * stride;
      if (args.x != nullptr) finite &= run.kernels.epilogue_rows(args);
    }
  }
  return finite;
}

Status run_depthwise(const TileRun& run, const fb::Op& op) {
  const Neighbours rows(run, op);
  const RowSink sink(run, op, rows.columns(), false);
  const auto* weights = constant<float>(run, operand(op.inputs(), kPlaceWeights));
  uint32_t sequence = find_sequence(run, run.row_begin);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0, count = 0; i < n; i += count) {
      const uint32_t row = run.row_begin + first + i;
      while (row >= run.offsets[sequence + 1]) ++sequence;
      const uint32_t left = run.offsets[sequence + 1] - row;
      count = left < n - i ? left : n - i;
      finite &= convolve_rows(run, rows, reach_of(op), weights, sequence, row, count,
                              sink.rows(first) + size_t{i} * sink.stride());
      rows.keep(sequence, row + count - 1);
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Depthwise, verify_depthwise, depthwise_scratch, run_depthwise);

}  // namespace bantam::ops
