// StoredMatrix: rows of a constant matrix of a file, whatever its layout.
#ifndef BANTAM_CONVERTER_FORMAT_STORED_MATRIX_H_
#define BANTAM_CONVERTER_FORMAT_STORED_MATRIX_H_

#include <cstdint>
#include <vector>

#include "bantam/model.h"
#include "bantam_generated.h"

namespace bantam::convert {

/// The integers [rows][columns] of linear weights, row-major, times their groups' factors: in [-128, 127] in what the
/// converter writes. `tensor`: of an open model, with a layout that weight_codec() has.
std::vector<int8_t> stored_integers(const Model& model, const fb::Tensor& tensor);

class StoredMatrix {
 public:
  /// `tensor`: a constant of two dimensions of `model`, which is open and outlives the object. Linear weights are decoded
  /// here: a byte a weight.
  StoredMatrix(const Model& model, const fb::Tensor& tensor);

  uint32_t rows() const { return rows_; }
  uint32_t columns() const { return columns_; }
  /// Is the layout one that this class reads, and the matrix no larger than a file of its kind can sensibly be?
  bool readable() const { return readable_; }
  /// Does the file say what a step of the integers is? Of static quantization it does not: scales are in its operators.
  bool has_scales() const;

  /// Values of row n < rows(): floats, or integers (times their group's factor), which scale(n) makes values.
  void read(uint32_t n, float* values) const;
  float scale(uint32_t n) const;

 private:
  const fb::Tensor& tensor_;
  const uint8_t* data_ = nullptr;
  const uint8_t* scales_ = nullptr;  // null: the layout has none
  uint32_t rows_ = 0, columns_ = 0;
  bool readable_ = false;
  std::vector<int8_t> integers_;  // of linear weights
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_STORED_MATRIX_H_
