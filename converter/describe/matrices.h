// A file's matrices: how each is stored, how much of it is 0, how far it is from the source's.
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

/// How far a matrix's values are from the source's: norms of matrices are Frobenius's.
struct MatrixError {
  double relative = 0;  // |stored - source| / |source|
  /// The part of it where the stored value is 0: what pruning, or rounding to 0, takes away. relative^2 = zeros^2 + rest^2.
  double zeros = 0;
  double largest = 0;  // largest |stored - source|
};

struct MatrixReport {
  std::string name;  // of the tensor
  std::string group, part;
  Purpose purpose = Purpose::kHead;
  std::string type, layout;  // as the schema names them
  uint32_t rows = 0, columns = 0;
  uint64_t bytes = 0;      // values, scales, sums, padding
  double zeros = 0;        // share of the values, padding left out
  double zero_blocks = 0;  // share of the blocks of one output by four inputs that are all 0; linear layers
  bool linear = false;
  float recorded_error = 0;          // largest |stored - source| as the conversion measured it
  std::optional<MatrixError> error;  // against the source, where it can be compared
  std::string incomparable;          // why not, where a source was given
};

/// The matrices that a file's operators read, in its order; what shares another's data is left out. `source`: what the
/// weights are compared with, or null. Reads every weight. Throws Error when the source's weights cannot be read.
std::vector<MatrixReport> describe_matrices(const Model& model, const ModelSource* source);

/// Is the file made of these weights, by the digests that it states? Nothing: it states none.
std::optional<bool> made_from(const Model& model, const ModelSource& source);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_MATRICES_H_
