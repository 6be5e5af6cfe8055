#include "onnx/host_tensor.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/float_bits.h"

namespace bantam::convert::onnx {
namespace {

template <typename T>
T read_at(std::string_view bytes, uint64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

/// out[i] = as_float(element first + i).
template <typename T, typename AsFloat>
void read_all(std::string_view bytes, uint64_t first, size_t count, float* out, const AsFloat& as_float) {
  for (size_t i = 0; i < count; ++i) out[i] = as_float(read_at<T>(bytes, first + i));
}

}  // namespace

void read_floats(const Tensor& tensor, uint64_t first, size_t count, float* out) {
  const std::string_view b = tensor.bytes;
  switch (tensor.type) {
    case Type::f32:
      return read_all<float>(b, first, count, out, [](float v) { return v; });
    case Type::f16:
      return read_all<uint16_t>(b, first, count, out, [](uint16_t v) { return float_from_f16(v); });
    case Type::bf16:
      return read_all<uint16_t>(b, first, count, out, [](uint16_t v) { return float_from_bf16(v); });
    default:
      for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(element(tensor, first + i));
  }
}

HostTensor host_integers(std::vector<int64_t> values, bool scalar) {
  HostTensor out;
  out.whole = true;
  if (!scalar) out.dims = {static_cast<int64_t>(values.size())};
  out.ints = std::move(values);
  return out;
}

HostTensor host_floats(std::vector<int64_t> dims, std::vector<double> values) {
  HostTensor out;
  out.dims = std::move(dims);
  out.floats = std::move(values);
  return out;
}

size_t count_of(const std::vector<int64_t>& dims) {
  uint64_t count = 1;
  for (const int64_t extent : dims) {
    if (extent < 0) throw std::length_error("a tensor has an extent below 0");
    if (extent != 0 && count > kMostHostElements / static_cast<uint64_t>(extent)) {
      throw std::length_error("a tensor is too large to be run");
    }
    count *= static_cast<uint64_t>(extent);
  }
  return static_cast<size_t>(count);
}

double element(const Tensor& tensor, uint64_t i) {
  const std::string_view b = tensor.bytes;
  switch (tensor.type) {
    case Type::f32:
      return double{read_at<float>(b, i)};
    case Type::f64:
      return read_at<double>(b, i);
    case Type::f16:
      return double{float_from_f16(read_at<uint16_t>(b, i))};
    case Type::bf16:
      return double{float_from_bf16(read_at<uint16_t>(b, i))};
    case Type::i8:
      return read_at<int8_t>(b, i);
    case Type::u8:
    case Type::boolean:
      return read_at<uint8_t>(b, i);
    case Type::i16:
      return read_at<int16_t>(b, i);
    case Type::u16:
      return read_at<uint16_t>(b, i);
    case Type::i32:
      return read_at<int32_t>(b, i);
    case Type::u32:
      return read_at<uint32_t>(b, i);
    case Type::i64:
      return static_cast<double>(read_at<int64_t>(b, i));
    case Type::u64:
      return static_cast<double>(read_at<uint64_t>(b, i));
    default:
      return 0;
  }
}

std::optional<HostTensor> load(const Tensor& tensor) {
  if (bytes_of(tensor.type) == 0 || tensor.elements > kMostHostElements) return std::nullopt;
  HostTensor out;
  out.dims = tensor.dims;
  out.whole = !is_float(tensor.type);
  for (uint64_t i = 0; i < tensor.elements; ++i) {
    if (tensor.type == Type::i64) {
      out.ints.push_back(read_at<int64_t>(tensor.bytes, i));
    } else if (out.whole) {
      out.ints.push_back(static_cast<int64_t>(element(tensor, i)));
    } else {
      out.floats.push_back(element(tensor, i));
    }
  }
  return out;
}

std::vector<int64_t> broadcast_dims(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t behind = out.size() - i;
    const int64_t x = behind <= a.size() ? a[a.size() - behind] : 1, y = behind <= b.size() ? b[b.size() - behind] : 1;
    if (x != y && x != 1 && y != 1) throw std::invalid_argument("shapes do not go together");
    out[i] = x == 1 ? y : x;
  }
  return out;
}

HostTensor broadcast(const HostTensor& x, const std::vector<int64_t>& dims) {
  if (x.dims == dims) return x;
  HostTensor out;
  out.dims = dims;
  out.whole = x.whole;
  const size_t count = count_of(dims);
  if (x.dims.size() > dims.size()) throw std::invalid_argument("shapes do not go together");
  std::vector<size_t> strides(dims.size(), 0);
  size_t stride = 1;
  for (size_t i = x.dims.size(); i-- > 0;) {
    const size_t at = dims.size() - x.dims.size() + i;
    if (x.dims[i] != dims[at] && x.dims[i] != 1) throw std::invalid_argument("shapes do not go together");
    strides[at] = x.dims[i] == 1 ? 0 : stride;
    stride *= static_cast<size_t>(x.dims[i]);
  }
  if (x.size() == 0 && count != 0) throw std::invalid_argument("a tensor is empty");
  std::vector<size_t> index(dims.size(), 0);
  size_t from = 0;
  for (size_t i = 0; i < count; ++i) {
    if (x.whole) {
      out.ints.push_back(x.ints[from]);
    } else {
      out.floats.push_back(x.floats[from]);
    }
    for (size_t axis = dims.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < static_cast<size_t>(dims[axis])) break;
      from -= strides[axis] * static_cast<size_t>(dims[axis]);
      index[axis] = 0;
    }
  }
  return out;
}

}  // namespace bantam::convert::onnx
