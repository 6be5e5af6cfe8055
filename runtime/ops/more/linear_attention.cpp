// LinearAttention: multiplies queries with the sums over all keys that KeySums has computed.
#include "ops/more/linear_attention.h"

#include <string.h>

namespace bantam::ops {

Verdict check_sum_shape(const SumShape& shape) {
  if (shape.kind > fb::FeatureKind::MAX) return unsupported("attention by sums of an unknown kind");
  if (shape.head_width == 0 || shape.features == 0) {
    return corrupt("attention by sums of no head, no column or no feature");
  }
  // All heads have at most kMaxWidth columns: 64 bits suffice for 2^32 features of each.
  if (shape.all_floats() > kMaxWidth) return unsupported("sums over keys are too wide");
  const bool fits = shape.of_places() ? shape.epsilon == 0.0f : shape.epsilon > 0.0f && shape.epsilon <= 1.0f;
  return fits ? Verdict{} : corrupt("what is added to features is not in (0, 1], or there are none");
}

Verdict check_feature_matrix(const Site& site, int32_t index, const SumShape& shape) {
  if ((index >= 0) == shape.of_places()) return corrupt("features have no matrix, or sums by places have one", index);
  if (index < 0) return {};
  const fb::Tensor& t = tensor(site.model, index);
  // Only constant matrices have this layout.
  const bool fits = t.layout() == fb::Layout::tile_n16 && t.type() == fb::DType::f32 &&
                    extent(t, 0) == shape.features && extent(t, 1) == shape.head_width;
  return fits ? Verdict{} : corrupt("features are not made by f32 tiles of a vector a feature", index);
}

namespace {

// Positions in Op.inputs.
constexpr uint32_t kSums = 1, kQueryFeatures = 2;

SumShape shape_of_queries(const fb::Model& model, const fb::Op& op) {
  const fb::LinearAttention& a = *op.attributes_as_LinearAttention();
  return sum_shape(a, columns_of_head(input_width(model, op), a.heads()));
}

Verdict verify_linear_attention(const Site& site) {
  if (!linked::kFloat) return not_linked("this build leaves out products of floats");
  if (site.rows_symbol != kTokens) return corrupt("queries of sums are those of tokens");
  BANTAM_CHECK(check_row_input(site, 0, 0, false));
  const SumShape shape = shape_of_queries(site.model, site.op);
  BANTAM_CHECK(check_sum_shape(shape));
  BANTAM_CHECK(check_feature_matrix(site, operand(site.op.inputs(), kQueryFeatures), shape));
  const int32_t sums = operand(site.op.inputs(), kSums);
  const fb::Tensor& t = tensor(site.model, sums);
  const bool fits = rows_symbol(t) == kSequences && !is_state(t) && t.type() == fb::DType::f32 &&
                    t.layout() == fb::Layout::rows && width(t) == shape.all_floats();
  if (!fits) return corrupt("sums over keys are not f32 rows of sequences of their width", sums);
  return check_epilogue(site, shape.heads * shape.head_width);
}

/// Scratch for the epilogue and, after it, for a block of queries: products or features, columns of values, and their
/// divisors.
uint64_t linear_attention_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  const SumShape shape = shape_of_queries(model, op);
  const uint64_t rows = uint64_t{need.block_rows} * (shape.padded_features() + shape.value_columns());
  return sink_scratch(op, shape.heads * shape.head_width, need.block_rows) +
         (rows + kernels::pad16(need.block_rows)) * sizeof(float);
}

class Queries {
 public:
  Queries(const TileRun& run, const fb::Op& op, uint8_t* scratch)
      : run_(run),
        shape_(shape_of_queries(run.model, op)),
        q_(tile_rows(run, operand(op.inputs(), 0))),
        sums_(all_rows(run, operand(op.inputs(), kSums))),
        weights_(operand(op.inputs(), kQueryFeatures) < 0
                     ? nullptr
                     : blob<float>(run, tensor(run.model, operand(op.inputs(), kQueryFeatures)).data())),
        products_(reinterpret_cast<float*>(scratch)),
        values_(products_ + size_t{run.block_rows} * shape_.padded_features()),
        totals_(values_ + size_t{run.block_rows} * shape_.value_columns()) {}

  /// Computes rows [first, first + n) of the tile, which belong to `sequence`; n is at most a block. y: concatenated
  /// heads.
  bool attend(uint32_t sequence, uint32_t first, uint32_t n, float* y, size_t y_stride) const {
    const float* sums = sums_.from(sequence).f32();
    bool finite = true;
    for (uint32_t head = 0; head < shape_.heads; ++head) {
      const float* q = q_.from(first).f32() + size_t{head} * shape_.head_width;
      finite &= head_of(q, sums + head * shape_.head_floats(), n);
      for (uint32_t r = 0; r < n; ++r) store(r, y + r * y_stride + size_t{head} * shape_.head_width);
    }
    return finite;
  }

 private:
  /// Computes the values of one head's queries.
  bool head_of(const float* q, const float* sums, uint32_t n) const {
    const uint32_t padded = shape_.padded_features();
    bool finite = multiply(q, q_.stride, n, shape_.of_places() ? sums : weights_, shape_.head_width, padded, products_);
    if (shape_.of_places()) {
      finite &= run_.kernels.softmax_rows({products_, padded, n, shape_.features});
    } else {
      const float* x = shape_.kind == fb::FeatureKind::softmax ? q : nullptr;
      finite &= run_.kernels.feature_rows({products_, padded, n, shape_.features, x, q_.stride, shape_.head_width,
                                           shape_.epsilon, nullptr, nullptr, sums + shape_.value_end(), totals_});
    }
    return multiply(products_, padded, n, sums + shape_.key_floats(), shape_.features, shape_.value_columns(),
                    values_) &&
           finite;
  }

  bool multiply(const float* x, size_t x_stride, uint32_t rows, const float* w, uint32_t k, uint32_t n,
                float* y) const {
    return run_.kernels.linear_f32(
        {x, x_stride, rows, w, kernels::Element::kF32, nullptr, k, n, kernels::Activation::kNone, y, n});
  }

  /// Stores the head's columns of row r, divided by the sum of its features' weights.
  void store(uint32_t r, float* y) const {
    const float* row = values_ + size_t{r} * shape_.value_columns();
    if (shape_.of_places()) {
      memcpy(y, row, shape_.head_width * sizeof(float));
      return;
    }
    const float share = 1.0f / totals_[r];
    for (uint32_t i = 0; i < shape_.head_width; ++i) y[i] = row[i] * share;
  }

  const TileRun& run_;
  const SumShape shape_;
  const Rows q_, sums_;
  const float* const weights_;
  float *const products_, *const values_, *const totals_;
};

Status run_linear_attention(const TileRun& run, const fb::Op& op) {
  const SumShape shape = shape_of_queries(run.model, op);
  const uint32_t columns = shape.heads * shape.head_width;
  const RowSink sink(run, op, columns, false);
  const Queries queries(run, op, run.scratch + sink_scratch(op, columns, run.block_rows));
  uint32_t sequence = find_sequence(run, run.row_begin);
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first);
    for (uint32_t begin = first, end = 0; begin < first + n; begin = end) {
      while (run.row_begin + begin >= run.offsets[sequence + 1]) ++sequence;
      const uint32_t left = run.offsets[sequence + 1] - run.row_begin - begin;
      end = begin + (left < run.block_rows ? left : run.block_rows);
      if (end > first + n) end = first + n;
      float* y = sink.rows(first) + size_t{begin - first} * sink.stride();
      finite &= queries.attend(sequence, begin, end - begin, y, sink.stride());
    }
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(LinearAttention, verify_linear_attention, linear_attention_scratch, run_linear_attention);

}  // namespace bantam::ops
