// Depthwise: a convolution over tokens, separately for each column. epilogue_rows is the inner loop: as a gate, the
// weights of a position multiply the row of that neighbor; as a residual, it adds the sum of the positions before it.
// Weights of a token's own are the same rows, made of its scores before its row is computed.
#include "ops/epilogue.h"
#include "ops/more/neighbours.h"

namespace bantam::ops {
namespace {

constexpr uint32_t kPlaceWeights = 1;

uint32_t convolved_width(const fb::Model& model, const fb::Op& op) {
  return width(tensor(model, operand(op.inputs(), 0)));
}

uint32_t heads_of(const fb::Op& op) { return op.attributes_as_Depthwise()->heads(); }

/// Checks the scores of weights that each token has for itself.
Verdict check_own_weights(const Site& site, uint32_t columns) {
  if (!linked::activation(static_cast<uint32_t>(fb::ActivationKind::exp))) {
    return not_linked("this build leaves out the activation that shares of scores are computed with");
  }
  const uint64_t rows = reach_of(site.op).rows();
  if (columns % heads_of(site.op) != 0) return corrupt("the heads of a convolution do not divide its columns");
  if (rows > kMaxWidth || heads_of(site.op) * rows > kMaxWidth) return unsupported("a convolution has too many scores");
  BANTAM_CHECK(check_row_input(site, kPlaceWeights, static_cast<uint32_t>(heads_of(site.op) * rows), false));
  return check_epilogue(site, columns);
}

Verdict verify_depthwise(const Site& site) {
  if (!linked::kGate) return not_linked("this build leaves gates out");
  BANTAM_CHECK(check_neighbours(site));
  const fb::Depthwise& convolution = *site.op.attributes_as_Depthwise();
  if (convolution.latest()) {
    if (linked::kContexts && !linked::kStates) return not_linked("this build leaves states out");
    if (convolution.before() == 0 || convolution.after() != 0 || convolution.heads() != 0) {
      return corrupt("the latest rows are those in front of a token");
    }
  }
  const uint32_t columns = convolved_width(site.model, site.op);
  if (heads_of(site.op) != 0) return check_own_weights(site, columns);
  const int32_t index = operand(site.op.inputs(), kPlaceWeights);
  const fb::Tensor& t = tensor(site.model, index);
  const bool fits = is_constant(t) && t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows &&
                    t.shape()->size() == 2 && extent(t, 0) == reach_of(site.op).rows() &&
                    extent(t, 1) == kernels::pad16(columns);
  if (!fits) return corrupt("weights of a depthwise convolution are not an f32 row for each neighbour", index);
  return check_epilogue(site, columns);
}

uint64_t depthwise_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  const uint32_t columns = convolved_width(model, op);
  const uint64_t sink = sink_scratch(op, columns, need.block_rows);
  if (heads_of(op) == 0) return sink;
  const uint64_t taps = reach_of(op).rows();
  return sink + (taps * kernels::pad16(columns) + kernels::pad16(static_cast<uint32_t>(taps))) * sizeof(float);
}

/// Writes a token's weights, rows of `columns` rounded up to 16, from its scores. `shares`: memory for a head's taps,
/// rounded up to 16. Returns false if a score is not finite.
bool make_weights(const TileRun& run, const float* scores, uint32_t heads, uint32_t taps, uint32_t columns,
                  float* weights, float* shares) {
  const uint32_t stride = kernels::pad16(columns), each = columns / heads;
  kernels::EpilogueRows exp = {};
  exp.x = exp.y = shares;
  exp.rows = 1;
  exp.width = taps;
  exp.x_stride = exp.y_stride = kernels::pad16(taps);
  exp.activation = kernels::Activation::kExp;
  bool finite = true;
  memset(weights, 0, size_t{taps} * stride * sizeof(float));
  for (uint32_t head = 0; head < heads; ++head, scores += taps) {
    float most = scores[0];
    for (uint32_t tap = 1; tap < taps; ++tap) most = scores[tap] > most ? scores[tap] : most;
    for (uint32_t tap = 0; tap < taps; ++tap) shares[tap] = scores[tap] - most;
    finite &= run.kernels.epilogue_rows(exp);
    float sum = 0;
    for (uint32_t tap = 0; tap < taps; ++tap) sum += shares[tap];
    for (uint32_t tap = 0; tap < taps; ++tap) {
      const float share = shares[tap] / sum;
      float* row = weights + size_t{tap} * stride + head * each;
      for (uint32_t column = 0; column < each; ++column) row[column] = share;
    }
  }
  return finite;
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
  const uint32_t heads = heads_of(op), taps = static_cast<uint32_t>(reach_of(op).rows());
  const int32_t place_weights = operand(op.inputs(), kPlaceWeights);
  auto* own = reinterpret_cast<float*>(run.scratch + sink_scratch(op, rows.columns(), run.block_rows));
  float* shares = own + size_t{taps} * kernels::pad16(rows.columns());
  const float* weights = heads == 0 ? constant<float>(run, place_weights) : own;
  uint32_t sequence = find_sequence(run, run.row_begin);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t i = 0, count = 0; i < n; i += count) {
      const uint32_t row = run.row_begin + first + i;
      while (row >= run.offsets[sequence + 1]) ++sequence;
      const uint32_t left = run.offsets[sequence + 1] - row;
      count = heads != 0 ? 1 : left < n - i ? left : n - i;
      if (heads != 0) {
        const float* scores = tile_rows(run, place_weights).from(first + i).f32();
        finite &= make_weights(run, scores, heads, taps, rows.columns(), own, shares);
      }
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
