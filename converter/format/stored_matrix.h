// StoredMatrix: rows of a constant matrix of a file, whatever its layout.
#ifndef BANTAM_CONVERTER_FORMAT_STORED_MATRIX_H_
#define BANTAM_CONVERTER_FORMAT_STORED_MATRIX_H_

#include <cstdint>
#include <vector>

#include "bantam/model.h"
#include "bantam_generated.h"

namespace bantam::convert {

class StoredMatrix {
 public:
  /// `tensor`: a constant of two dimensions of `model`, which is open and outlives the object.
  StoredMatrix(const Model& model, const fb::Tensor& tensor);

  uint32_t rows() const { return rows_; }
  uint32_t columns() const { return columns_; }
  /// Is the layout one that this class reads?
  bool readable() const;
  /// Does the file say what a step of the integers is? Of the integer-only form it does not: scales are in its operators.
  bool has_scales() const;

  /// Values of row n < rows(): floats, or integers (times their group's factor), which scale(n) makes values.
  void read(uint32_t n, float* values) const;
  float scale(uint32_t n) const;

 private:
  void read_sparse(uint32_t n, float* values) const;
  void read_bitmask(uint32_t n, float* values) const;
  void read_int4(uint32_t n, float* values) const;

  const fb::Tensor& tensor_;
  const uint8_t* data_ = nullptr;
  const uint8_t* scales_ = nullptr;
  uint32_t rows_ = 0, columns_ = 0;
  std::vector<size_t> panels_;  // bitmask_k4n16: bytes stored before each 16 outputs
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_STORED_MATRIX_H_
