// Turned: columns of heads while rotary positions (arXiv 2104.09864) are applied. Each is a sum of columns of the same
// head, times numbers that depend on the token's position. Files express the rotation with slices, joins and products.
#ifndef BANTAM_CONVERTER_ONNX_TURNED_H_
#define BANTAM_CONVERTER_ONNX_TURNED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/places.h"
#include "onnx/cones.h"

namespace bantam::convert::onnx {

/// A rotation of columns i and width / 2 + i of a head by position times an angle; columns from `width` on are
/// unchanged.
struct Turn {
  uint32_t width = 0;
  Rotary rotary;
};
bool operator==(const Turn& a, const Turn& b);

class Turned {
 public:
  /// The unrotated `width` columns of a block's heads.
  Turned(int32_t block, size_t width, const std::vector<Probe>& probes);

  int32_t block() const { return block_; }
  size_t columns() const { return columns_; }

  Turned cut(size_t begin, size_t end) const;
  Turned joined(const Turned& other) const;
  Turned times(double factor) const;
  /// `factors`: for each probe, [tokens, columns].
  Turned times(const std::vector<std::vector<double>>& factors) const;
  Turned plus(const Turned& other) const;

  /// Returns the rotation that the columns amount to, and in `factor` the common factor of all columns; nullopt if they
  /// are not a rotation.
  std::optional<Turn> turn(double* factor) const;

 private:
  struct Part {
    std::vector<size_t> from;                  // for each column, a column of the head
    std::vector<std::vector<double>> factors;  // for each probe, [tokens, columns]
  };
  struct Coefficients;

  int32_t block_;
  size_t width_, columns_;
  std::vector<size_t> tokens_;  // for each probe
  std::vector<Part> parts_;
};

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_TURNED_H_
