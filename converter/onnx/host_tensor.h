// HostTensor: a small tensor in memory, of whole numbers (truth values are 0 and 1) or of floats, and the operators on
// such tensors.
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

/// Elements of a tensor that is made by running operators.
constexpr uint64_t kMostHostElements = 1U << 21;

HostTensor host_integers(std::vector<int64_t> values, bool scalar = false);
HostTensor host_floats(std::vector<int64_t> dims, std::vector<double> values);
/// Product of extents; throws std::length_error beyond kMostHostElements or below 0.
size_t count_of(const std::vector<int64_t>& dims);

/// Reads elements of a file's tensor; nothing for types that are not read.
std::optional<HostTensor> load(const Tensor& tensor);
double element(const Tensor& tensor, uint64_t i);
/// Elements [first, first + count) as f32.
void read_floats(const Tensor& tensor, uint64_t first, size_t count, float* out);

/// x spread to `dims` as ONNX broadcasts.
HostTensor broadcast(const HostTensor& x, const std::vector<int64_t>& dims);
std::vector<int64_t> broadcast_dims(const std::vector<int64_t>& a, const std::vector<int64_t>& b);

/// The outputs of `node`, of inputs that are all here (null: left out). Empty: the operator is not known. Throws std::exception where
/// its inputs do not go together. `opset`: of the file.
std::vector<HostTensor> run_node(const Node& node, const std::vector<const HostTensor*>& inputs, int64_t opset);

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_HOST_TENSOR_H_
