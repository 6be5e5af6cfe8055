#include "cli/verify_data.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "cli/engine.h"
#include "model/view.h"

namespace bantam::cli {
namespace {

/// One constant tensor and where its bytes are.
struct Constant {
  const fb::Tensor& tensor;
  const uint8_t* data;  // the data section

  std::string name() const { return to_string(as_text(tensor.name())); }
  const uint8_t* at(const fb::Blob* blob) const { return data + blob->offset(); }
};

bool present(const fb::Blob* blob) { return blob != nullptr && blob->size() != 0; }

template <typename T>
T load(const uint8_t* bytes, uint64_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
  return value;
}

/// Elements of a tile [N/16][K/4][16][4]: calls visit(n, k, value).
template <typename Visit>
void for_tile(const uint8_t* bytes, uint32_t padded_n, uint32_t padded_k, const Visit& visit) {
  uint64_t at = 0;
  for (uint32_t n = 0; n < padded_n; n += 16) {
    for (uint32_t k = 0; k < padded_k; k += 4) {
      for (uint32_t lane = 0; lane < 64; ++lane) {
        visit(n + lane / 4, k + lane % 4, static_cast<int8_t>(bytes[at++]));
      }
    }
  }
}

void verify_scales(const Constant& constant, const std::vector<bool>& used, std::vector<std::string>* problems) {
  const fb::Blob* blob = constant.tensor.scales();
  if (!present(blob)) return;
  const uint64_t count = blob->size() / 4;
  for (uint64_t i = 0; i < count; ++i) {
    const float scale = load<float>(constant.at(blob), i);
    const bool needed = i < used.size() && used[i];
    if (std::isfinite(scale) && scale >= 0 && (scale > 0 || !needed)) continue;
    problems->push_back(
        fmt::format("tensor {}: scale {} is {}, which is no positive number", constant.name(), i, scale));
    return;
  }
}

/// Ranges, padding and sums of an int8 weight tile. `used[n]`: row n holds something other than 0.
void verify_tile(const Constant& constant, std::vector<bool>* used, std::vector<std::string>* problems) {
  const uint32_t n_count = extent(constant.tensor, 0);
  const uint32_t k_count = extent(constant.tensor, 1);
  const uint32_t padded_n = kernels::pad16(n_count);
  std::vector<int64_t> sums(padded_n, 0);
  uint64_t out_of_range = 0;
  uint64_t padding = 0;
  used->assign(padded_n, false);
  for_tile(constant.at(constant.tensor.data()), padded_n, kernels::pad4(k_count),
           [&](uint32_t n, uint32_t k, int8_t value) {
             sums[n] += value;
             if (value != 0) (*used)[n] = true;
             out_of_range += value == -128 ? 1u : 0u;
             padding += (n >= n_count || k >= k_count) && value != 0 ? 1u : 0u;
           });
  if (out_of_range != 0) {
    problems->push_back(
        fmt::format("tensor {}: {} weights are -128; they must lie in [-127, 127]", constant.name(), out_of_range));
  }
  if (padding != 0) {
    problems->push_back(fmt::format("tensor {}: {} padding elements are not 0", constant.name(), padding));
  }
  const fb::Blob* stated = constant.tensor.sums();
  if (!present(stated)) return;
  for (uint32_t n = 0; n < padded_n && uint64_t{n} * 4 < stated->size(); ++n) {
    const auto sum = load<int32_t>(constant.at(stated), n);
    if (sum == sums[n]) continue;
    problems->push_back(
        fmt::format("tensor {}: the sum of row {} is {}, the file states {}", constant.name(), n, sums[n], sum));
    return;
  }
}

void verify_rows(const Constant& constant, std::vector<bool>* used, std::vector<std::string>* problems) {
  const fb::Blob* blob = constant.tensor.data();
  const uint64_t row_width = constant.tensor.shape()->size() > 1 ? extent(constant.tensor, 1) : 1;
  uint64_t out_of_range = 0;
  used->assign(row_width == 0 ? 0 : blob->size() / row_width, false);
  for (uint64_t i = 0; i < blob->size(); ++i) {
    const auto value = static_cast<int8_t>(constant.at(blob)[i]);
    out_of_range += value == -128 ? 1u : 0u;
    if (value != 0 && i / row_width < used->size()) (*used)[i / row_width] = true;
  }
  if (out_of_range != 0) {
    problems->push_back(
        fmt::format("tensor {}: {} weights are -128; they must lie in [-127, 127]", constant.name(), out_of_range));
  }
}

void verify_floats(const Constant& constant, std::vector<std::string>* problems) {
  const fb::Blob* blob = constant.tensor.data();
  const bool half = constant.tensor.type() == fb::DType::f16;
  uint64_t bad = 0;
  for (uint64_t i = 0; i < blob->size() / (half ? 2 : 4); ++i) {
    if (half) {
      bad += (load<uint16_t>(constant.at(blob), i) & 0x7C00u) == 0x7C00u ? 1u : 0u;
    } else {
      bad += std::isfinite(load<float>(constant.at(blob), i)) ? 0u : 1u;
    }
  }
  if (bad != 0) problems->push_back(fmt::format("tensor {}: {} elements are NaN or infinite", constant.name(), bad));
}

uint64_t element_count(const fb::Tensor& t) {
  uint64_t count = 1;
  for (uint32_t d = 0; d < t.shape()->size(); ++d) count *= extent(t, d);
  return count;
}

}  // namespace

DataSummary verify_data(const Model& model, std::vector<std::string>* problems) {
  DataSummary summary;
  for (const fb::Tensor* t : *root(model).tensors()) {
    if (!is_constant(*t) || !present(t->data())) continue;
    const Constant constant{*t, model.data()};
    ++summary.constants;
    summary.elements += element_count(*t);
    std::vector<bool> used;
    if (t->type() == fb::DType::i8 && t->layout() == fb::Layout::tile_k4n16) {
      verify_tile(constant, &used, problems);
    } else if (t->type() == fb::DType::i8) {
      verify_rows(constant, &used, problems);
    } else if (t->type() == fb::DType::f32 || t->type() == fb::DType::f16) {
      verify_floats(constant, problems);
    }
    verify_scales(constant, used, problems);
  }
  return summary;
}

}  // namespace bantam::cli
