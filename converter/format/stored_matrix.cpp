#include "format/stored_matrix.h"

#include <algorithm>
#include <bitset>
#include <cstring>

#include "base/float_bits.h"
#include "format/view.h"

namespace bantam::convert {
namespace {

template <typename T>
T load(const uint8_t* bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
  return value;
}

float load_float(const uint8_t* bytes, fb::DType type, size_t index) {
  switch (type) {
    case fb::DType::f32:
      return load<float>(bytes, index);
    case fb::DType::f16:
      return float_from_f16(load<uint16_t>(bytes, index));
    case fb::DType::i16:
      return load<int16_t>(bytes, index);
    case fb::DType::i32:
      return static_cast<float>(load<int32_t>(bytes, index));
    default:
      return load<int8_t>(bytes, index);
  }
}

bool is_plain(fb::DType type) {
  return type == fb::DType::f32 || type == fb::DType::f16 || type == fb::DType::i8 || type == fb::DType::i16 ||
         type == fb::DType::i32;
}

}  // namespace

StoredMatrix::StoredMatrix(const Model& model, const fb::Tensor& tensor)
    : tensor_(tensor), rows_(extent(tensor, 0)), columns_(extent(tensor, 1)) {
  if (tensor.data() != nullptr && tensor.data()->size() != 0) data_ = model.data() + tensor.data()->offset();
  // Only where the kind of scale says so has anybody checked how many there are.
  const bool scaled = tensor.scale_kind() == fb::ScaleKind::per_output ||
                      tensor.scale_kind() == fb::ScaleKind::per_row || tensor.scale_kind() == fb::ScaleKind::per_group;
  if (scaled && tensor.scales() != nullptr) scales_ = model.data() + tensor.scales()->offset();
  if (!bitmask_weights(tensor) || data_ == nullptr) return;
  const size_t quads = kernels::pad4(columns_) / 4;
  size_t stored = 0;
  for (size_t tile = 0; tile < kernels::pad16(rows_) / 16 * quads; ++tile) {
    if (tile % quads == 0) panels_.push_back(stored);
    stored += std::bitset<64>(load<uint64_t>(data_, tile)).count();
  }
}

bool StoredMatrix::readable() const {
  if (data_ == nullptr) return false;
  switch (tensor_.layout()) {
    case fb::Layout::rows:
    case fb::Layout::tile_n16:
      return is_plain(tensor_.type());
    case fb::Layout::tile_k4n16:
    case fb::Layout::k16n1:
      return tensor_.type() == fb::DType::i8;
    case fb::Layout::tile_i4_k8n16:
    case fb::Layout::sparse_1x4:
    case fb::Layout::bitmask_k4n16:
      return true;
    default:
      return false;
  }
}

bool StoredMatrix::has_scales() const {
  return tensor_.type() == fb::DType::f32 || tensor_.type() == fb::DType::f16 || scales_ != nullptr;
}

float StoredMatrix::scale(uint32_t n) const { return scales_ == nullptr ? 1 : load<float>(scales_, n); }

void StoredMatrix::read(uint32_t n, float* values) const {
  switch (tensor_.layout()) {
    case fb::Layout::tile_k4n16: {
      const uint8_t* panel = data_ + uint64_t{n / 16} * (kernels::pad4(columns_) / 4) * 64 + n % 16 * 4;
      for (uint32_t k = 0; k < columns_; ++k) values[k] = load<int8_t>(panel, k / 4 * 64 + k % 4);
      return;
    }
    case fb::Layout::tile_n16: {
      const size_t first = size_t{n / 16} * columns_ * 16 + n % 16;
      for (uint32_t k = 0; k < columns_; ++k) values[k] = load_float(data_, tensor_.type(), first + size_t{k} * 16);
      return;
    }
    case fb::Layout::tile_i4_k8n16:
      return read_int4(n, values);
    case fb::Layout::sparse_1x4:
      return read_sparse(n, values);
    case fb::Layout::bitmask_k4n16:
      return read_bitmask(n, values);
    default: {
      const size_t stride = tensor_.layout() == fb::Layout::k16n1 ? kernels::pad16(columns_) : columns_;
      for (uint32_t k = 0; k < columns_; ++k) values[k] = load_float(data_, tensor_.type(), n * stride + k);
    }
  }
}

void StoredMatrix::read_int4(uint32_t n, float* values) const {
  const uint8_t* panel = data_ + uint64_t{n / 16} * (kernels::pad8(columns_) / 8) * 64 + n % 16 * 4;
  const uint8_t* factors = scales_ + size_t{kernels::pad16(rows_)} * sizeof(float);
  const size_t groups = int4_groups(tensor_);
  for (uint32_t k = 0; k < columns_; ++k) {
    const uint8_t byte = panel[k / 8 * 64 + k % 4];
    const int weight = (k % 8 < 4 ? byte & 15 : byte >> 4) - 8;
    const uint8_t factor = factors[(n / 16 * groups + k / tensor_.group()) * 16 + n % 16];
    values[k] = static_cast<float>(weight * factor);
  }
}

void StoredMatrix::read_sparse(uint32_t n, float* values) const {
  const uint32_t padded = kernels::pad16(rows_);
  const size_t steps = sparse_steps(tensor_, padded);
  const uint8_t* index = data_ + steps * 16;
  const uint8_t* ends = index + steps * 8;
  const uint8_t* order = ends + padded;
  std::fill_n(values, columns_, 0.0f);
  const uint32_t span = n / kernels::kSparseSpan * kernels::kSparseSpan;
  const uint32_t last = std::min(span + uint32_t{kernels::kSparseSpan}, padded);
  const auto place = static_cast<uint32_t>(std::find(order + span, order + last, n - span) - order);
  if (place == last) return;
  const uint32_t group = place / 4;
  const size_t end = load<uint32_t>(ends, group);
  for (size_t step = group == 0 ? 0 : load<uint32_t>(ends, group - 1); step < end; ++step) {
    const uint32_t first = load<uint16_t>(index, step * 4 + place % 4) * 4u;
    for (uint32_t k = first; k < std::min(first + 4, columns_); ++k)
      values[k] += load<int8_t>(data_, step * 16 + place % 4 * 4 + (k - first));
  }
}

void StoredMatrix::read_bitmask(uint32_t n, float* values) const {
  const size_t quads = kernels::pad4(columns_) / 4;
  const uint8_t* stored = data_ + bitmask_bytes(tensor_) + panels_[n / 16];
  for (size_t quad = 0; quad < quads; ++quad) {
    const std::bitset<64> mask(load<uint64_t>(data_, n / 16 * quads + quad));
    // Bytes of the tile before this output's four.
    const size_t before = n % 16 == 0 ? 0 : (mask << (64 - n % 16 * 4)).count();
    const uint8_t* next = stored + before;
    for (uint32_t i = 0; i < 4; ++i) {
      const bool present = mask[n % 16 * 4 + i];
      const float value = present ? load<int8_t>(next++, 0) : 0.0f;
      if (quad * 4 + i < columns_) values[quad * 4 + i] = value;
    }
    stored += mask.count();
  }
}

}  // namespace bantam::convert
