// KeySums: sums over a sequence's keys and values; their size does not depend on the number of tokens.
#include <string.h>

#include "ops/more/linear_attention.h"

namespace bantam::ops {
namespace {

// Positions in Op.inputs.
constexpr uint32_t kKeyMatrix = 1, kValueMatrix = 2;

/// Tokens that are summed at a time, counted from the first token of a sequence. They form one term of the sums and
/// share one largest product, so this number affects the result; it is the same for all sessions.
constexpr uint32_t kKeysTogether = 16;

SumShape shape_of_keys(const fb::Model& model, const fb::Op& op) {
  const fb::KeySums& a = *op.attributes_as_KeySums();
  const uint32_t both = columns_of_head(input_width(model, op), a.heads());
  return sum_shape(a, both % 2 == 0 ? both / 2 : 0);
}

/// Checks that the constant has a row for each token position; if each head has its own, the heads' rows are
/// concatenated.
Verdict check_places(const Site& site, int32_t index, const SumShape& shape) {
  const fb::Tensor& t = tensor(site.model, index);
  const uint32_t padded = kernels::pad16(shape.features);
  const bool fits = is_constant(t) && t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows &&
                    t.shape()->size() == 2 && (width(t) == padded || width(t) == uint64_t{padded} * shape.heads);
  if (!fits) return corrupt("sums by places are not made by f32 rows of their number, or of each head's", index);
  const uint32_t places = longest_sequence(site.model, site.phase);
  return places != 0 && places <= extent(t, 0) ? Verdict{}
                                               : corrupt("a place can reach beyond those that sums are made by", index);
}

Verdict verify_key_sums(const Site& site) {
  if (!linked::kFloat) return not_linked("this build leaves out products of floats");
  if (site.rows_symbol != kSequences) return corrupt("sums over keys run over sequences");
  const auto input = [&](uint32_t position) { return operand(site.op.inputs(), position); };
  const fb::Tensor& x = tensor(site.model, input(0));
  if (!is_token_rows(x)) return corrupt("keys and values are not shared f32 rows of tokens", input(0));
  const SumShape shape = shape_of_keys(site.model, site.op);
  BANTAM_CHECK(check_sum_shape(shape));
  if (shape.of_places()) {
    BANTAM_CHECK(check_places(site, input(kKeyMatrix), shape));
    if (input(kValueMatrix) >= 0) BANTAM_CHECK(check_places(site, input(kValueMatrix), shape));
  } else {
    BANTAM_CHECK(check_feature_matrix(site, input(kKeyMatrix), shape));
    if (input(kValueMatrix) >= 0) return corrupt("values of features have a matrix", input(kValueMatrix));
  }
  BANTAM_CHECK(check_no_epilogue(site));
  BANTAM_CHECK(check_epilogue(site, static_cast<uint32_t>(shape.all_floats())));
  const int32_t y = operand(site.op.outputs(), 0);
  const bool fits = y >= 0 && tensor(site.model, y).region() == fb::Region::shared && operand(site.op.outputs(), 1) < 0;
  return fits ? Verdict{} : corrupt("sums over keys are not shared f32 rows of sequences alone", y);
}

/// Values of kKeysTogether tokens and, with features, the sum of all values, the tokens' features, and a row of
/// epsilons.
uint64_t key_sums_floats(const SumShape& shape) {
  const uint64_t values = uint64_t{kKeysTogether} * shape.value_columns();
  if (shape.of_places()) return values;
  return values + shape.value_columns() + uint64_t{kKeysTogether + 1} * shape.padded_features();
}

uint64_t key_sums_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed&) {
  return key_sums_floats(shape_of_keys(model, op)) * sizeof(float);
}

/// Computes the sums of one head of one sequence.
class HeadSums {
 public:
  HeadSums(const TileRun& run, const fb::Op& op)
      : run_(run),
        shape_(shape_of_keys(run.model, op)),
        x_(all_rows(run, operand(op.inputs(), 0))),
        padded_(shape_.padded_features()),
        keys_(matrix(op, kKeyMatrix)),
        values_(operand(op.inputs(), kValueMatrix) < 0 ? keys_ : matrix(op, kValueMatrix)),
        block_(reinterpret_cast<float*>(run.scratch)),
        total_(block_ + size_t{kKeysTogether} * shape_.value_columns()),
        features_(total_ + shape_.value_columns()),
        epsilons_(features_ + size_t{kKeysTogether} * padded_) {}

  /// Sums rows [begin, end) of the run into y, the head's floats in its sequence's row.
  bool sum(uint32_t begin, uint32_t end, uint32_t head, float* y) {
    memset(y, 0, static_cast<size_t>(shape_.head_floats()) * sizeof(float));
    return shape_.of_places() ? by_places(begin, end, head, y) : by_features(begin, end, head, y);
  }

  const SumShape& shape() const { return shape_; }

 private:
  struct SumMatrix {
    const float* data;
    size_t stride;
    bool each_head;
  };
  SumMatrix matrix(const fb::Op& op, uint32_t position) const {
    const fb::Tensor& t = tensor(run_.model, operand(op.inputs(), position));
    return {blob<float>(run_, t.data()), width(t), width(t) != padded_};
  }

  const float* key(uint32_t row, uint32_t head) const { return x_.from(row).f32() + size_t{head} * shape_.head_width; }
  const float* value(uint32_t row, uint32_t head) const { return key(row, shape_.heads + head); }

  /// Copies the values of n tokens, padded with zeros to whole vectors.
  void take_values(uint32_t row, uint32_t n, uint32_t head) {
    const uint32_t columns = shape_.value_columns(), width = shape_.head_width;
    for (uint32_t r = 0; r < n; ++r) {
      float* to = block_ + size_t{r} * columns;
      memcpy(to, value(row + r, head), width * sizeof(float));
      memset(to + width, 0, (columns - width) * sizeof(float));
    }
  }

  bool by_places(uint32_t begin, uint32_t end, uint32_t head, float* y) {
    bool finite = true;
    for (uint32_t row = begin, n = 0; row < end; row += n) {
      n = end - row < kKeysTogether ? end - row : kKeysTogether;
      take_values(row, n, head);
      const float *of_keys = places(keys_, row - begin, head), *of_values = places(values_, row - begin, head);
      finite &= run_.kernels.outer_sums(
          {key(row, head), x_.stride, of_keys, keys_.stride, n, shape_.head_width, padded_, 1.0f, y});
      finite &= run_.kernels.outer_sums({of_values, values_.stride, block_, shape_.value_columns(), n, shape_.features,
                                         shape_.value_columns(), 1.0f, y + shape_.key_floats()});
    }
    return finite;
  }
  const float* places(const SumMatrix& m, uint32_t place, uint32_t head) const {
    return m.data + place * m.stride + (m.each_head ? size_t{head} * padded_ : 0);
  }

  /// Sums features without their epsilon, scaled by the largest product so far. The contribution of epsilon to all
  /// values is added at the end, which is the same sum in another order.
  bool by_features(uint32_t begin, uint32_t end, uint32_t head, float* y) {
    const uint32_t columns = shape_.value_columns(), m = shape_.features;
    float* of_features = y + shape_.value_end();
    memset(total_, 0, columns * sizeof(float));
    for (uint32_t i = 0; i < padded_; ++i) epsilons_[i] = shape_.epsilon;
    float most = -__builtin_inff(), kept = 1.0f;
    const float one = 1.0f;
    bool finite = true;
    for (uint32_t row = begin, n = 0; row < end; row += n) {
      n = end - row < kKeysTogether ? end - row : kKeysTogether;
      take_values(row, n, head);
      const float* k = key(row, head);
      finite &= run_.kernels.linear_f32({k, x_.stride, n, keys_.data, kernels::Element::kF32, nullptr,
                                         shape_.head_width, padded_, kernels::Activation::kNone, features_, padded_});
      const float* x = shape_.kind == fb::FeatureKind::softmax ? k : nullptr;
      finite &= run_.kernels.feature_rows(
          {features_, padded_, n, m, x, x_.stride, shape_.head_width, 0.0f, &most, &kept, nullptr, nullptr});
      finite &= run_.kernels.outer_sums({features_, padded_, block_, columns, n, m, columns, kept, y});
      finite &= run_.kernels.outer_sums({&one, 0, features_, padded_, n, 1, padded_, kept, of_features});
      finite &= run_.kernels.outer_sums({&one, 0, block_, columns, n, 1, columns, 1.0f, total_});
    }
    const auto count = static_cast<float>(end - begin);
    finite &= run_.kernels.outer_sums({epsilons_, 0, total_, columns, 1, m, columns, 1.0f, y});
    return run_.kernels.outer_sums({&count, 0, epsilons_, padded_, 1, 1, padded_, 1.0f, of_features}) && finite;
  }

  const TileRun& run_;
  const SumShape shape_;
  const Rows x_;
  const uint32_t padded_;
  const SumMatrix keys_, values_;
  float *const block_, *const total_, *const features_, *const epsilons_;
};

Status run_key_sums(const TileRun& run, const fb::Op& op) {
  HeadSums sums(run, op);
  const Rows y = tile_rows(run, operand(op.outputs(), 0));
  bool finite = true;
  for (uint32_t i = 0; i < run.rows; ++i) {
    const uint32_t sequence = run.row_begin + i;
    for (uint32_t head = 0; head < sums.shape().heads; ++head) {
      float* to = y.from(i).f32() + head * sums.shape().head_floats();
      finite &= sums.sum(run.offsets[sequence], run.offsets[sequence + 1], head, to);
    }
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(KeySums, verify_key_sums, key_sums_scratch, run_key_sums);

}  // namespace bantam::ops
