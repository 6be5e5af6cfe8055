// Code that the two halves of linear attention share: shapes, and the layout of the sums over keys in their row.
#ifndef BANTAM_OPS_MORE_LINEAR_ATTENTION_H_
#define BANTAM_OPS_MORE_LINEAR_ATTENTION_H_

#include "ops/epilogue.h"

namespace bantam::ops {

/// Fields of fb::KeySums or fb::LinearAttention, and the number of columns of a head.
struct SumShape {
  fb::FeatureKind kind;
  uint32_t heads, features, head_width;
  float epsilon;

  bool of_places() const { return kind == fb::FeatureKind::places; }
  uint32_t padded_features() const { return kernels::pad16(features); }
  uint32_t value_columns() const { return kernels::pad16(head_width); }
  /// Floats of a head's keys, which precede its values.
  uint64_t key_floats() const { return of_places() ? uint64_t{padded_features()} * head_width : 0; }
  /// Floats of a head's keys and values; the sums of features follow them.
  uint64_t value_end() const { return key_floats() + uint64_t{features} * value_columns(); }
  uint64_t head_floats() const { return value_end() + (of_places() ? 0 : padded_features()); }
  uint64_t all_floats() const { return heads * head_floats(); }
};

template <class Attributes>
SumShape sum_shape(const Attributes& a, uint32_t head_width) {
  return {a.kind(), a.heads(), a.features(), head_width, a.epsilon()};
}

/// Checks that counts are positive and small enough for 32-bit products, and that epsilon is positive if the features
/// have one. head_width is columns_of_head, or half of it.
Verdict check_sum_shape(const SumShape& shape);

/// Checks that `index` is a tiled f32 matrix [features, head_width] if the feature kind has one, else -1.
Verdict check_feature_matrix(const Site& site, int32_t index, const SumShape& shape);

/// Columns of a head among `columns` of all heads; 0: the heads do not divide them.
inline uint32_t columns_of_head(uint32_t columns, uint32_t heads) {
  return heads == 0 || columns % heads != 0 ? 0 : columns / heads;
}

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_LINEAR_ATTENTION_H_
