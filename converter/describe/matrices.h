// The matrices of a file: how each is stored, how many of its values are 0, and how far it is from the source's.
#ifndef BANTAM_CONVERTER_DESCRIBE_MATRICES_H_
#define BANTAM_CONVERTER_DESCRIBE_MATRICES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bantam/model.h"
#include "describe/components.h"
#include "source/model_source.h"

namespace bantam::convert {

/// The difference between a matrix and the source's. All norms are Frobenius norms.
struct MatrixError {
  double relative = 0;  // |stored - source| / |source|
  /// The part of it at stored zeros, which pruning or rounding to 0 causes. relative^2 = zeros^2 + rest^2.
  double zeros = 0;
  double largest = 0;  // largest |stored - source|
};

struct MatrixReport {
  std::string name;  // of the tensor
  std::string group, part;
  Purpose purpose = Purpose::kHead;
  std::string type, layout;  // the schema's names
  uint32_t rows = 0, columns = 0;
  uint64_t bytes = 0;      // values, scales, sums, padding
  double zeros = 0;        // fraction of the values, padding excluded
  double zero_blocks = 0;  // linear layers: fraction of the blocks of one output by four inputs that are all 0
  bool linear = false;
  float recorded_error = 0;          // largest |stored - source|, as measured during conversion
  std::optional<MatrixError> error;  // compared with the source, if possible
  std::string incomparable;          // if a source is given: why it cannot be compared
};

/// Returns the matrices that a file's operators read, in the file's order, without those that share another's data.
/// `source`: the model to compare the weights with, or null. Reads every weight. Throws Error if the source's weights
/// cannot be read.
std::vector<MatrixReport> describe_matrices(const Model& model, const ModelSource* source);

/// Returns true if the file was made from these weights, according to its digests; nothing if it has no digests.
std::optional<bool> made_from(const Model& model, const ModelSource& source);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_MATRICES_H_
