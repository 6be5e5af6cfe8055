// StoredMatrix: reads rows of a file's constant matrix in any layout.
#ifndef BANTAM_CONVERTER_FORMAT_STORED_MATRIX_H_
#define BANTAM_CONVERTER_FORMAT_STORED_MATRIX_H_

#include <cstdint>
#include <vector>

#include "bantam/model.h"
#include "bantam_generated.h"

namespace bantam::convert {

/// Returns the integers [rows][columns] of linear weights, row-major, times their group factors; they are in [-128,
/// 127] in files of the converter. `tensor` belongs to an open model and has a layout with a weight_codec().
std::vector<int8_t> stored_integers(const Model& model, const fb::Tensor& tensor);

class StoredMatrix {
 public:
  /// `tensor`: a two-dimensional constant of `model`, which is open and must outlive the object. Linear weights are
  /// decoded here to one byte per weight.
  StoredMatrix(const Model& model, const fb::Tensor& tensor);

  uint32_t rows() const { return rows_; }
  uint32_t columns() const { return columns_; }
  /// Returns true if this class supports the layout, and the matrix is not unreasonably large.
  bool readable() const { return readable_; }
  /// Returns true if the file contains the integers' scales. With static quantization it does not: the scales are
  /// folded into its operators.
  bool has_scales() const;

  /// Reads row n < rows(): floats, or integers (times their group's factor), to be multiplied by scale(n).
  void read(uint32_t n, float* values) const;
  float scale(uint32_t n) const;

 private:
  const fb::Tensor& tensor_;
  const uint8_t* data_ = nullptr;
  const uint8_t* scales_ = nullptr;  // null: none
  uint32_t rows_ = 0, columns_ = 0;
  bool readable_ = false;
  std::vector<int8_t> integers_;  // decoded linear weights
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_STORED_MATRIX_H_
