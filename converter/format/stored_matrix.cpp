#include "format/stored_matrix.h"

#include <utility>

#include "base/float_bits.h"
#include "format/bytes.h"
#include "format/view.h"
#include "format/weight_codec.h"

namespace bantam::convert {
namespace {

/// Maximum number of weights to decode at once. A small file may claim more, because zeros are not stored.
constexpr uint64_t kMostWeights = uint64_t{1} << 30;

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

bool is_plain(const fb::Tensor& t) {
  if (t.layout() != fb::Layout::rows && t.layout() != fb::Layout::tile_n16) return false;
  return t.type() == fb::DType::f32 || t.type() == fb::DType::f16 || t.type() == fb::DType::i8 ||
         t.type() == fb::DType::i16 || t.type() == fb::DType::i32;
}

/// Rows without padding, times the factors of their groups. Weights that sparse layouts do not store stay 0.
class DenseRows : public BlockSink {
 public:
  DenseRows(const Model& model, const fb::Tensor& tensor)
      : rows_(extent(tensor, 0)),
        columns_(extent(tensor, 1)),
        factors_(tensor, present(tensor.scales()) ? model.data() + tensor.scales()->offset() : nullptr),
        values_(size_t{rows_} * columns_, 0) {}

  void block(uint32_t n, uint32_t k, const int8_t* weights) override {
    if (n >= rows_) return;
    int8_t* row = values_.data() + size_t{n} * columns_;
    for (uint32_t i = 0; i < 4 && k + i < columns_; ++i) {
      if (weights[i] != 0) row[k + i] = static_cast<int8_t>(row[k + i] + weights[i] * factors_.of(n, k));
    }
  }

  std::vector<int8_t> take() { return std::move(values_); }

 private:
  uint32_t rows_, columns_;
  GroupFactors factors_;
  std::vector<int8_t> values_;
};

}  // namespace

std::vector<int8_t> stored_integers(const Model& model, const fb::Tensor& tensor) {
  DenseRows rows(model, tensor);
  weight_codec(tensor.layout()).visit(tensor, model.data() + tensor.data()->offset(), rows);
  return rows.take();
}

StoredMatrix::StoredMatrix(const Model& model, const fb::Tensor& tensor)
    : tensor_(tensor), rows_(extent(tensor, 0)), columns_(extent(tensor, 1)) {
  if (!present(tensor.data())) return;
  data_ = model.data() + tensor.data()->offset();
  // The number of scales has been checked only for these kinds of scales.
  const bool scaled = tensor.scale_kind() != fb::ScaleKind::none && tensor.scale_kind() != fb::ScaleKind::fixed;
  if (scaled && present(tensor.scales())) scales_ = model.data() + tensor.scales()->offset();
  const bool coded = find_weight_codec(tensor.layout()) != nullptr && uint64_t{rows_} * columns_ <= kMostWeights;
  readable_ = coded || is_plain(tensor);
  if (coded) integers_ = stored_integers(model, tensor);
}

bool StoredMatrix::has_scales() const {
  return tensor_.type() == fb::DType::f32 || tensor_.type() == fb::DType::f16 || scales_ != nullptr;
}

float StoredMatrix::scale(uint32_t n) const { return scales_ == nullptr ? 1 : load<float>(scales_, n); }

void StoredMatrix::read(uint32_t n, float* values) const {
  const size_t first = size_t{n} * columns_;
  for (uint32_t k = 0; k < columns_; ++k) {
    if (!integers_.empty()) {
      values[k] = integers_[first + k];
    } else {
      const bool tiled = tensor_.layout() == fb::Layout::tile_n16;
      values[k] = load_float(data_, tensor_.type(), tiled ? place_in_tile_n16(n, k, columns_) : first + k);
    }
  }
}

}  // namespace bantam::convert
