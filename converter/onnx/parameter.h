// Parameter: a constant of the file that stays there until it is stored in the graph, in its orientation and with the scales that its
// integers have.
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

/// Packed integers of a matrix with a scale of each so many of them.
struct BlockedIntegers {
  std::string_view bytes;
  uint32_t bits = 4;  // 2, 4 or 8; the first is in the lowest bits
  bool is_signed = false;
  int64_t rows = 0, columns = 0;
  int64_t stride = 0;  // elements from row to row
  // Scales and zeros lie as [rows / row_block, scale_columns], both rounded up.
  int64_t row_block = 1, column_block = 1, scale_columns = 1;
  std::shared_ptr<const HostTensor> scales;
  std::vector<double> zeros;                 // as many, or one
  std::shared_ptr<const std::string> owned;  // holds `bytes`, where no file does

  double value(int64_t row, int64_t column) const;
};

struct Parameter {
  std::string name;
  const Tensor* tensor = nullptr;            // in the file; or
  std::shared_ptr<const HostTensor> folded;  // made of constants; or
  std::shared_ptr<const BlockedIntegers> blocked;
  std::vector<int64_t> shape;               // as many elements otherwise; empty: as the tensor lies
  bool turned = false;                      // a matrix whose columns are rows
  std::shared_ptr<const HostTensor> scale;  // of integers: one, or one a row of `axis`
  std::shared_ptr<const HostTensor> zero;   // null: 0
  int64_t axis = 0;                         // of the tensor as it is stored

  bool there() const { return tensor != nullptr || folded != nullptr || blocked != nullptr; }
  std::vector<int64_t> dims() const;
  bool is_integer() const;
  double stored(uint64_t i) const;  // element of the tensor as it is stored, without its scale
};

/// A matrix of these numbers.
Parameter matrix_parameter(std::string name, int64_t rows, int64_t columns, std::vector<double> values);

/// Small enough to be run; the scale is applied. Null: too large, or of a type that is not read.
std::shared_ptr<const HostTensor> host_of(const Parameter& parameter);

/// A matrix on its way into the graph: `rounded` where the file's integers stay what they are.
struct MatrixValues {
  Values values;
  std::shared_ptr<const Rounded> rounded;
};

/// A matrix [rows, columns] as it is turned, times its scales. Integers of at most 127 around 0 with a scale for all or for a row stay.
/// Throws Error naming the tensor where a value is not finite. Only rows from `skip` on, `keep` of them. Floats stay in the file.
MatrixValues matrix_of(const Parameter& parameter, uint32_t skip, uint32_t keep,
                       const std::shared_ptr<const Model>& model);
/// Matrices of as many columns above each other.
Values above_each_other(std::vector<Values> parts);
/// Numbers of a vector.
Values vector_of(const Parameter& parameter, const std::string& file);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_PARAMETER_H_
