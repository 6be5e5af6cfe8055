// HostTensor: a small tensor in memory, of integers (booleans are 0 and 1) or of floats, and the operators on such
// tensors.
#ifndef BANTAM_CONVERTER_ONNX_HOST_TENSOR_H_
#define BANTAM_CONVERTER_ONNX_HOST_TENSOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx/model.h"

namespace bantam::convert::onnx {

struct HostTensor {
  std::vector<int64_t> dims;
  bool whole = false;  // the elements are `ints`
  std::vector<int64_t> ints;
  std::vector<double> floats;

  size_t size() const { return whole ? ints.size() : floats.size(); }
  double at(size_t i) const { return whole ? static_cast<double>(ints.at(i)) : floats.at(i); }
  int64_t integer(size_t i) const { return whole ? ints.at(i) : static_cast<int64_t>(floats.at(i)); }
};

/// Maximum number of elements of a tensor that is computed by running operators.
constexpr uint64_t kMostHostElements = 1U << 21;

HostTensor host_integers(std::vector<int64_t> values, bool scalar = false);
HostTensor host_floats(std::vector<int64_t> dims, std::vector<double> values);
/// Product of the extents. Throws std::length_error if it exceeds kMostHostElements or an extent is negative.
size_t count_of(const std::vector<int64_t>& dims);

/// Reads the elements of a file's tensor; nullopt for unsupported types.
std::optional<HostTensor> load(const Tensor& tensor);
double element(const Tensor& tensor, uint64_t i);
/// Elements [first, first + count) as f32.
void read_floats(const Tensor& tensor, uint64_t first, size_t count, float* out);

/// Broadcasts x to `dims` by ONNX's rules.
HostTensor broadcast(const HostTensor& x, const std::vector<int64_t>& dims);
std::vector<int64_t> broadcast_dims(const std::vector<int64_t>& a, const std::vector<int64_t>& b);

/// Returns the outputs of `node` for these inputs (null: omitted). Empty if the operator is unknown. Throws
/// std::exception if the inputs do not fit together. `opset`: the file's opset version.
std::vector<HostTensor> run_node(const Node& node, const std::vector<const HostTensor*>& inputs, int64_t opset);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_HOST_TENSOR_H_
