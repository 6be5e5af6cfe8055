#include "ops/more/terms.h"

#include "linked.h"
#include "ops/epilogue.h"
#include "ops/more/logarithm.h"
#include "ops/parts.h"
#include "ops/weights.h"

#if BANTAM_IF_LINKED(Terms)

namespace bantam::ops {
namespace {

constexpr uint32_t kMostSaturations = 2;

/// Columns whose scores are held at a time; all if the layer cannot be divided into parts.
uint32_t columns_together(const fb::Tensor& weights) {
  return has_parts(weights) ? kPanelsTogether * 16 : kernels::pad16(extent(weights, 0));
}

/// Rows of a block; only a few if all columns are held.
uint32_t rows_together(const fb::Tensor& weights, uint32_t most) {
  constexpr uint32_t kFew = 8;
  return has_parts(weights) || most < kFew ? most : kFew;
}

uint64_t score_bytes(const fb::Tensor& weights, uint32_t rows) {
  return uint64_t{rows + 1} * columns_together(weights) * sizeof(float);
}

/// Computes ln(1 + max(z, 0)), exact to a few units in the last place also for small z (Kahan's method: z / ((1 + z) -
/// 1) compensates the rounding of 1 + z).
float saturate(float z) {
  if (!(z > 0.0f)) return 0.0f;
  const float u = 1.0f + z;
  return u == 1.0f ? z : natural_log(u) * (z / (u - 1.0f));
}
float saturate(float z, uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) z = saturate(z);
  return z;
}

/// Parameters for folding the scores of a sequence into one row.
struct Fold {
  const TileRun& run;
  uint32_t saturations;
  bool sums;
  uint32_t columns;   // at a time
  uint32_t rows;      // at a time
  uint32_t all_rows;  // of the sequence
  size_t x_row;       // elements from row to row
};

void advance(const Fold& fold, uint32_t row, kernels::LinearQ8* layer) {
  layer->x += row * fold.x_row;
  layer->x_scale += row;
}
void advance(const Fold& fold, uint32_t row, kernels::LinearF32* layer) { layer->x += row * fold.x_row; }

/// Returns the memory for a thread's scores, which precedes the kernel's scratch.
float* take_scores(const kernels::LinearQ8& layer, const Fold&) { return reinterpret_cast<float*>(layer.scratch); }
float* take_scores(const kernels::LinearF32&, const Fold& fold) { return reinterpret_cast<float*>(fold.run.scratch); }
void move_scratch(kernels::LinearQ8* layer, size_t bytes) { layer->scratch += bytes; }
void move_scratch(kernels::LinearF32*, size_t) {}

/// Folds `rows` rows of scores into the sequence's row. The largest score yields the largest weight, because the
/// function is monotonic.
bool fold_block(const Fold& fold, const float* scores, uint32_t stride, uint32_t rows, uint32_t width, bool first,
                float* largest, float* y) {
  if (fold.sums) {
    for (uint32_t r = 0; r < rows; ++r) {
      const float* row = scores + size_t{r} * stride;
      for (uint32_t c = 0; c < width; ++c) {
        const float weight = saturate(row[c], fold.saturations);
        y[c] = first && r == 0 ? weight : y[c] + weight;
      }
    }
    return true;
  }
  float* to = first ? y : largest;
  const bool finite =
      fold.run.kernels.pool_rows({scores, nullptr, nullptr, stride, 0, rows, width, kernels::Pool::kMax, false, to});
  for (uint32_t c = 0; c < width && !first; ++c) y[c] = largest[c] > y[c] ? largest[c] : y[c];
  return finite;
}

/// Computes some panels of the layer for all rows of the sequence. `layer`: x is the sequence's first row, y the
/// destination of the weights.
template <class Kernel, class Layer>
bool make_columns(const Fold& fold, const Kernel& kernel, const Layer& layer) {
  float* const scores = take_scores(layer, fold);
  const size_t taken = size_t{fold.rows + 1} * fold.columns * sizeof(float);
  float* const largest = scores + size_t{fold.rows} * fold.columns;
  bool finite = true;
  for (uint32_t column = 0; column < layer.n; column += fold.columns) {
    const uint32_t width = layer.n - column < fold.columns ? layer.n - column : fold.columns;
    Layer some = column == 0 && width == layer.n ? layer : part_of(layer, column / 16, width / 16);
    float* const y = some.y;
    move_scratch(&some, taken);
    some.y = scores;
    some.y_stride = fold.columns;
    for (uint32_t row = 0; row < fold.all_rows; row += fold.rows) {
      Layer block = some;
      block.rows = fold.all_rows - row < fold.rows ? fold.all_rows - row : fold.rows;
      advance(fold, row, &block);
      finite &= kernel(block);
      finite &= fold_block(fold, scores, fold.columns, block.rows, width, row == 0, largest, y);
    }
    for (uint32_t c = 0; c < width && !fold.sums; ++c) y[c] = saturate(y[c], fold.saturations);
  }
  return finite;
}

}  // namespace

Verdict check_terms(const Site& site, uint32_t inputs, bool q8) {
  const fb::Linear& layer = *site.op.attributes_as_Linear();
  if (layer.saturations() > kMostSaturations) return corrupt("weights of terms are saturated once or twice");
  if (layer.only_globals()) return corrupt("weights of terms are of all tokens");
  if (site.rows_symbol != kSequences) return corrupt("weights of terms are made over sequences");
  const int32_t x = operand(site.op.inputs(), 0);
  const fb::Tensor& t = tensor(site.model, x);
  if (!is_token_rows_of_any_type(t) || is_fixed(t) || t.type() != (q8 ? fb::DType::i8 : fb::DType::f32)) {
    return corrupt("weights of terms are made of shared f32 or i8 rows of tokens", x);
  }
  if (width(t) != inputs) return corrupt("the input has another width than the weights", x);
  const bool plain = has_no_epilogue(site.op) && operand(site.op.outputs(), 1) < 0;
  return plain ? Verdict{} : corrupt("weights of terms have no epilogue, and are f32 rows");
}

uint64_t terms_scratch(const fb::Tensor& weights, uint32_t rows) {
  const uint64_t own = with_weights(
      weights, [&](auto format) { return static_cast<uint64_t>(decltype(format)::scratch(extent(weights, 1))); });
  return score_bytes(weights, rows_together(weights, rows)) + own;
}

Status run_terms(const TileRun& run, const fb::Op& op) {
  const fb::Linear& how = *op.attributes_as_Linear();
  const fb::Tensor& w = tensor(run.model, operand(op.inputs(), 1));
  const bool q8 = integer_weights(w);
  const uint32_t n = kernels::pad16(extent(w, 0)), k = extent(w, 1);
  const float* bias = constant<float>(run, operand(op.inputs(), 2));
  const Rows x = all_rows(run, operand(op.inputs(), 0));
  const Rows y = tile_rows(run, operand(op.outputs(), 0));
  const uint32_t rows = rows_together(w, linked::kHost ? run.linear_rows : run.block_rows);
  bool finite = true, all_run = true;
  for (uint32_t i = 0; i < run.rows; ++i) {
    const uint32_t begin = run.offsets[run.row_begin + i], end = run.offsets[run.row_begin + i + 1];
    const Fold fold = {run, how.saturations(), how.sum_terms(), columns_together(w), rows, end - begin, x.stride};
    const Rows of_sequence = x.from(begin);
    float* to = y.from(i).f32();
    if (!linked::kFloat || (linked::kDynamic && q8)) {
      kernels::LinearQ8 layer = {};
      layer.x = of_sequence.i8();
      layer.x_stride = x.stride;
      layer.x_scale = of_sequence.scales;
      layer.rows = fold.all_rows;
      layer.bias = bias;
      layer.k = kernels::pad4(k);
      layer.n = n;
      layer.y = to;
      layer.y_stride = y.stride;
      bind_weights(run, w, &layer);
      layer.scratch = reinterpret_cast<int8_t*>(run.scratch);
      const auto make = [&](const kernels::LinearQ8& some) { return make_columns(fold, run.kernels.linear_q8, some); };
      finite &=
          run.helpers != nullptr && has_parts(w) ? multiply_parts(*run.helpers, make, layer, &all_run) : make(layer);
    } else {
      const kernels::LinearF32 layer = {
          of_sequence.f32(),          x.stride, fold.all_rows, blob<void>(run, w.data()), element(w.type()), bias, k, n,
          kernels::Activation::kNone, to,       y.stride};
      finite &= make_columns(fold, run.kernels.linear_f32, layer);
    }
  }
  if (!all_run) return Status::kInvalidArgument;
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace bantam::ops

#endif  // BANTAM_IF_LINKED(Terms)
