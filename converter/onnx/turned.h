// Turned: columns of heads on their way through rotary positions (arXiv 2104.09864): each is a sum of columns of the same head, times
// numbers of the token's place. Files spell that by slices, joins and products, which end in a turn by angles.
#ifndef BANTAM_CONVERTER_ONNX_TURNED_H_
#define BANTAM_CONVERTER_ONNX_TURNED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/places.h"
#include "onnx/cones.h"

namespace bantam::convert::onnx {

/// Columns i and width / 2 + i of a head are turned by place times an angle; those behind `width` stay.
struct Turn {
  uint32_t width = 0;
  Rotary rotary;
};
bool operator==(const Turn& a, const Turn& b);

class Turned {
 public:
  /// The `width` columns of heads of a block, as they are.
  Turned(int32_t block, size_t width, const std::vector<Probe>& probes);

  int32_t block() const { return block_; }
  size_t columns() const { return columns_; }

  Turned cut(size_t begin, size_t end) const;
  Turned joined(const Turned& other) const;
  Turned times(double factor) const;
  /// `factors`: of each probe, [tokens, columns].
  Turned times(const std::vector<std::vector<double>>& factors) const;
  Turned plus(const Turned& other) const;

  /// The turn that this is; its factor is what all columns are multiplied with. Nothing where it is none.
  std::optional<Turn> turn(double* factor) const;

 private:
  struct Part {
    std::vector<size_t> from;                  // a head's column, for each column
    std::vector<std::vector<double>> factors;  // of each probe, [tokens, columns]
  };
  struct Coefficients;

  int32_t block_;
  size_t width_, columns_;
  std::vector<size_t> tokens_;  // of probes
  std::vector<Part> parts_;
};

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_TURNED_H_
