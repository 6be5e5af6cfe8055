// Parameter: a constant that stays in the file until it is stored in the graph, with its orientation and the scales of
// its integers.
#ifndef BANTAM_CONVERTER_ONNX_PARAMETER_H_
#define BANTAM_CONVERTER_ONNX_PARAMETER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/builder.h"
#include "onnx/host_tensor.h"
#include "onnx/model.h"

namespace bantam::convert::onnx {

/// Packed integers of a matrix, with one scale per block.
struct BlockedIntegers {
  std::string_view bytes;
  uint32_t bits = 4;  // 2, 4 or 8; the first is in the lowest bits
  bool is_signed = false;
  int64_t rows = 0, columns = 0;
  int64_t stride = 0;  // elements from one row to the next
  // Scales and zero points are laid out as [rows / row_block, scale_columns], rounded up.
  int64_t row_block = 1, column_block = 1, scale_columns = 1;
  std::shared_ptr<const HostTensor> scales;
  std::vector<double> zeros;                 // one per scale, or a single one
  std::shared_ptr<const std::string> owned;  // owns `bytes` if they are not in a file

  double value(int64_t row, int64_t column) const;
};

struct Parameter {
  std::string name;
  const Tensor* tensor = nullptr;            // a tensor of the file; or
  std::shared_ptr<const HostTensor> folded;  // computed from constants; or
  std::shared_ptr<const BlockedIntegers> blocked;
  std::vector<int64_t> shape;               // another shape with the same number of elements; empty: the tensor's own
  bool turned = false;                      // the matrix is transposed
  std::shared_ptr<const HostTensor> scale;  // of integers: one scale, or one per index of `axis`
  std::shared_ptr<const HostTensor> zero;   // zero points; null: 0
  int64_t axis = 0;                         // axis of the tensor as stored

  bool there() const { return tensor != nullptr || folded != nullptr || blocked != nullptr; }
  std::vector<int64_t> dims() const;
  bool is_integer() const;
  double stored(uint64_t i) const;  // element of the tensor as stored, without its scale
};

/// A parameter that is a matrix of these numbers.
Parameter matrix_parameter(std::string name, int64_t rows, int64_t columns, std::vector<double> values);

/// The parameter as a host tensor with its scales applied. Null if it is too large, or of an unsupported type.
std::shared_ptr<const HostTensor> host_of(const Parameter& parameter);

/// A matrix to be added to the graph. `rounded` is set if the file's integers are kept.
struct MatrixValues {
  Values values;
  std::shared_ptr<const Rounded> rounded;
};

/// Returns the matrix [rows, columns] in its final orientation, times its scales, restricted to `keep` rows from row
/// `skip` on. Keeps symmetric integers of at most 127 that have one scale, or one per row. Throws Error that names the
/// tensor if a value is not finite. Floats stay in the file.
MatrixValues matrix_of(const Parameter& parameter, uint32_t skip, uint32_t keep,
                       const std::shared_ptr<const Model>& model);
/// Stacks matrices with the same number of columns vertically.
Values above_each_other(std::vector<Values> parts);
/// Returns the numbers of a vector.
Values vector_of(const Parameter& parameter, const std::string& file);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_PARAMETER_H_
