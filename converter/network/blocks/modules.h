// Modules of a stack: linear layers and norms, by the names of their tensors in files.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_MODULES_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_MODULES_H_

#include <cstdint>
#include <map>
#include <string>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "source/weights.h"

namespace bantam::convert {

/// Names are relative to the base model; names in the graph start with the base model's. Layers that name the same
/// tensors share constants.
class Modules {
 public:
  /// References must outlive the object.
  Modules(Builder& builder, Weights& weights, const EncoderConfig& config);

  /// The vector `name` of `width` numbers.
  int32_t vector(const std::string& name, uint32_t width);
  /// NAME.weight and, unless the model has none, NAME.bias of a norm over `width` columns.
  EpilogueSpec norm(const std::string& name, uint32_t width);
  /// The factors of a norm, whatever form files store them in.
  Values gammas(const std::string& name, uint32_t width);
  /// True if this model's module `name` has no bias. bias_of: NAME.bias, or kAbsent.
  bool lacks_bias(const std::string& name) const;
  int32_t bias_of(const std::string& name, uint32_t width);

  int32_t matrix(const std::string& name, uint32_t rows, uint32_t columns, Values values);
  /// The linear layer `name` of `out` outputs.
  int32_t dense(const std::string& name, int32_t x, uint32_t out, const EpilogueSpec& epilogue);

  /// The constant made from the tensor `name`; kAbsent: none yet. remember() records one.
  int32_t made_of(const std::string& name) const;
  void remember(const std::string& name, int32_t constant) { made_.emplace(name, constant); }

 private:
  int32_t keep(const std::string& name, Values values);

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const Family& family_;
  std::string base_;
  std::map<std::string, int32_t> made_;  // constants by the names of their tensors
};

/// An epilogue that adds the vector `bias` to each row, for operators that have no bias: `name`.ones and `name`.bias.
EpilogueSpec plus_vector(Builder& builder, const std::string& name, Values bias);

/// Rows [begin, end) of `from`, which has `columns` columns; without values if `from` has none.
Values rows_between(const Values& from, uint32_t columns, uint32_t begin, uint32_t end);

/// A table of `rows` rows of `columns` columns, each followed by zeros up to a multiple of 16, as a Scan reads rates.
int32_t padded_table(Builder& builder, const std::string& name, uint32_t rows, uint32_t columns, Values values);

/// ln(1 + e^x), without overflow.
double softplus(double x);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_MODULES_H_
