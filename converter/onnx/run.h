// Functions and types that the operators of run_node share.
#ifndef BANTAM_CONVERTER_ONNX_RUN_H_
#define BANTAM_CONVERTER_ONNX_RUN_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "onnx/host_tensor.h"

namespace bantam::convert::onnx {

using Inputs = std::vector<const HostTensor*>;

struct Run {
  const Node& node;
  const Inputs& in;
  int64_t opset;

  const HostTensor& at(size_t i) const {
    if (i >= in.size() || in[i] == nullptr) throw std::invalid_argument("an input is missing");
    return *in[i];
  }
  bool has(size_t i) const { return i < in.size() && in[i] != nullptr; }
  /// A list that is an input from some opset on, and an attribute before.
  std::vector<int64_t> list(size_t input, const char* attribute) const {
    std::vector<int64_t> out;
    if (!has(input)) return node.integers(attribute);
    for (size_t i = 0; i < at(input).size(); ++i) out.push_back(at(input).integer(i));
    return out;
  }
};

inline size_t axis_of_rank(int64_t axis, size_t rank) {
  if (axis < 0) axis += static_cast<int64_t>(rank);
  if (axis < 0 || axis >= static_cast<int64_t>(rank)) throw std::out_of_range("no such axis");
  return static_cast<size_t>(axis);
}

inline HostTensor like(const HostTensor& x) {
  HostTensor out;
  out.dims = x.dims;
  out.whole = x.whole;
  return out;
}

inline void push(HostTensor& out, const HostTensor& from, size_t i) {
  if (i >= from.size()) throw std::out_of_range("an index lies outside");
  if (out.whole) {
    out.ints.push_back(from.integer(i));
  } else {
    out.floats.push_back(from.at(i));
  }
}

inline HostTensor with_dims(HostTensor x, std::vector<int64_t> dims) {
  if (count_of(dims) != x.size()) throw std::invalid_argument("a shape does not fit");
  x.dims = std::move(dims);
  return x;
}

/// Integer sums of values from a file may wrap around.
inline int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

using Operator = HostTensor (*)(const Run&);
/// Splits a tensor along an axis.
std::vector<HostTensor> split(const Run& run);
/// Operators that move elements; run_node itself contains those that compute.
const std::map<std::string, Operator>& moves();

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_RUN_H_
