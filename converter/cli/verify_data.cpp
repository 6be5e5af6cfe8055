#include "cli/verify_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "cli/engine.h"
#include "format/view.h"

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

/// Bytes of one line of a tile: 16 outputs by 4 k.
constexpr uint32_t kLine = 64;

/// What one pass finds at each place of int8 lines that follow each other. Plain loops over places, without a branch,
/// that the compiler turns into vector code.
struct Lines {
  std::array<int64_t, kLine> sum = {};
  std::array<uint8_t, kLine> any = {};    // not 0: some value is not 0
  std::array<uint8_t, kLine> below = {};  // not 0: some value is -128

  void add(const uint8_t* bytes, uint64_t lines) {
    constexpr uint64_t kMost = 255;  // so many values of 8 bits add up in 16
    for (; lines > kMost; bytes += kMost * kLine, lines -= kMost) add_few(bytes, kMost);
    add_few(bytes, lines);
  }

 private:
  void add_few(const uint8_t* bytes, uint64_t lines) {
    std::array<int16_t, kLine> few = {};
    for (uint64_t line = 0; line < lines; ++line, bytes += kLine) {
      for (uint32_t i = 0; i < kLine; ++i) {
        few[i] = static_cast<int16_t>(few[i] + static_cast<int8_t>(bytes[i]));
        any[i] = static_cast<uint8_t>(any[i] | bytes[i]);
        below[i] = static_cast<uint8_t>(below[i] | (bytes[i] == 0x80 ? 0xFFu : 0u));
      }
    }
    for (uint32_t i = 0; i < kLine; ++i) sum[i] += few[i];
  }
};

/// Adds a line when `below`; counts only then, in the first `size` bytes.
void report_below(const Constant& constant, bool below, uint64_t size, std::vector<std::string>* problems) {
  if (!below) return;
  const uint8_t* bytes = constant.at(constant.tensor.data());
  problems->push_back(fmt::format("tensor {}: {} weights are -128; they must lie in [-127, 127]", constant.name(),
                                  std::count(bytes, bytes + size, uint8_t{0x80})));
}

void verify_scales(const Constant& constant, const std::vector<uint8_t>& used, std::vector<std::string>* problems) {
  const fb::Blob* blob = constant.tensor.scales();
  if (!present(blob)) return;
  // Behind the scales of int4 weights lie factors. The model is open: its blobs lie in memory.
  const size_t all = static_cast<size_t>(blob->size() / 4);
  const size_t count = int4_weights(constant.tensor) ? kernels::pad16(extent(constant.tensor, 0)) : all;
  for (size_t i = 0; i < count; ++i) {
    const float scale = load<float>(constant.at(blob), i);
    const bool needed = i < used.size() && used[i] != 0;
    if (std::isfinite(scale) && scale >= 0 && (scale > 0 || !needed)) continue;
    problems->push_back(
        fmt::format("tensor {}: scale {} is {}, which is no positive number", constant.name(), i, scale));
    return;
  }
}

/// `sums`: of the weights of each output.
void check_padding_and_sums(const Constant& constant, bool padding, const std::vector<int64_t>& sums,
                            std::vector<std::string>* problems) {
  if (padding) problems->push_back(fmt::format("tensor {}: padding elements are not 0", constant.name()));
  const fb::Blob* stated = constant.tensor.sums();
  if (!present(stated)) return;
  for (size_t n = 0; n < sums.size() && n * 4 < stated->size(); ++n) {
    const auto sum = load<int32_t>(constant.at(stated), n);
    if (sum == sums[n]) continue;
    problems->push_back(
        fmt::format("tensor {}: the sum of row {} is {}, the file states {}", constant.name(), n, sums[n], sum));
    return;
  }
}

/// Ranges, padding and sums of an int8 weight tile [N/16][K/4][16][4]. `used[n]`: row n holds something other than 0.
void verify_tile(const Constant& constant, std::vector<uint8_t>* used, std::vector<std::string>* problems) {
  const uint32_t n_count = extent(constant.tensor, 0);
  const uint32_t k_count = extent(constant.tensor, 1);
  const uint32_t padded_n = kernels::pad16(n_count);
  const uint64_t lines = kernels::pad4(k_count) / 4;
  std::vector<int64_t> sums(padded_n, 0);
  used->assign(padded_n, 0);
  bool below = false;
  bool padding = false;
  const uint8_t* bytes = constant.at(constant.tensor.data());
  for (uint32_t n = 0; n < padded_n; n += 16, bytes += lines * kLine) {
    Lines found;
    found.add(bytes, lines);
    const uint8_t* last = bytes + (lines - 1) * kLine;
    for (uint32_t i = 0; i < kLine; ++i) {
      const uint32_t row = n + i / 4;
      sums[row] += found.sum[i];
      (*used)[row] |= found.any[i];
      below = below || found.below[i] != 0;
      const bool beyond_k = (lines - 1) * 4 + i % 4 >= k_count;
      padding = padding || (row >= n_count ? found.any[i] : (beyond_k ? last[i] : 0)) != 0;
    }
  }
  report_below(constant, below, constant.tensor.data()->size(), problems);
  check_padding_and_sums(constant, padding, sums, problems);
}

/// Weights of layout tile_i4_k8n16, of which a padded one is 8 in its half of a byte.
void verify_int4(const Constant& constant, std::vector<uint8_t>* used, std::vector<std::string>* problems) {
  const uint32_t n_count = extent(constant.tensor, 0);
  const uint32_t k_count = extent(constant.tensor, 1);
  const uint32_t groups = int4_groups(constant.tensor);
  const uint32_t eights = kernels::pad8(k_count) / 8;
  std::vector<int64_t> sums(kernels::pad16(n_count), 0);
  used->assign(sums.size(), 0);
  bool padding = false;
  bool factors_fit = true;
  const uint8_t* factors = constant.at(constant.tensor.scales()) + sums.size() * sizeof(float);
  const uint8_t* bytes = constant.at(constant.tensor.data());
  for (uint32_t n = 0; n < sums.size(); ++n) {
    const uint8_t* panel = bytes + uint64_t{n / 16} * eights * 64 + n % 16 * 4;
    for (uint32_t k = 0; k < eights * 8; ++k) {
      const uint8_t byte = panel[k / 8 * 64 + k % 4];
      const int weight = (k % 8 < 4 ? byte & 15 : byte >> 4) - 8;
      const bool beyond = n >= n_count || k >= k_count;
      padding = padding || (beyond && weight != 0);
      if (beyond) continue;
      const uint8_t factor = factors[(uint64_t{n / 16} * groups + k / constant.tensor.group()) * 16 + n % 16];
      factors_fit = factors_fit && factor >= 1 && factor <= 15;
      sums[n] += weight * factor;
      if (weight != 0) (*used)[n] = 1;
    }
  }
  if (!factors_fit)
    problems->push_back(fmt::format("tensor {}: a factor of int4 weights is not 1 to 15", constant.name()));
  check_padding_and_sums(constant, padding, sums, problems);
}

/// Weights of layout sparse_1x4, whose blocks lie within the matrix. A block may come twice only if one of them is zeros.
void verify_sparse(const Constant& constant, std::vector<uint8_t>* used, std::vector<std::string>* problems) {
  const uint32_t n_count = extent(constant.tensor, 0);
  const uint32_t k_count = extent(constant.tensor, 1);
  const uint32_t padded = kernels::pad16(n_count);
  const size_t steps = sparse_steps(constant.tensor, padded);
  const uint8_t* bytes = constant.at(constant.tensor.data());
  const uint8_t* index = bytes + steps * 16;
  const uint8_t* ends = index + steps * 8;
  const uint8_t* order = ends + padded;
  std::vector<int64_t> sums(padded, 0);
  used->assign(padded, 0);
  bool padding = false;
  bool below = false;
  size_t step = 0;
  for (uint32_t group = 0; group < padded / 4; ++group) {
    const uint32_t first = group * 4 / kernels::kSparseSpan * kernels::kSparseSpan;
    for (const size_t end = load<uint32_t>(ends, group); step < end; ++step) {
      for (uint32_t j = 0; j < 4; ++j) {
        const uint32_t n = first + order[group * 4 + j];
        const uint32_t k = load<uint16_t>(index, step * 4 + j) * 4u;
        for (uint32_t i = 0; i < 4; ++i) {
          const auto weight = load<int8_t>(bytes, step * 16 + j * 4 + i);
          if (weight == 0) continue;
          padding = padding || n >= n_count || k + i >= k_count;
          below = below || weight == -128;
          sums[n] += weight;
          (*used)[n] = 1;
        }
      }
    }
  }
  report_below(constant, below, steps * 16, problems);
  check_padding_and_sums(constant, padding, sums, problems);
}

/// Weights of layout bitmask_k4n16, of which there are as many as bits.
void verify_bitmask(const Constant& constant, std::vector<uint8_t>* used, std::vector<std::string>* problems) {
  const uint32_t n_count = extent(constant.tensor, 0);
  const uint32_t k_count = extent(constant.tensor, 1);
  const uint32_t quads = kernels::pad4(k_count) / 4;
  std::vector<int64_t> sums(kernels::pad16(n_count), 0);
  used->assign(sums.size(), 0);
  bool padding = false;
  bool below = false;
  const uint8_t* masks = constant.at(constant.tensor.data());
  const uint8_t* weights = masks + bitmask_bytes(constant.tensor);
  for (uint64_t tile = 0; tile < sums.size() / 16 * quads; ++tile) {
    const auto mask = load<uint64_t>(masks, tile);
    for (uint32_t i = 0; i < kLine; ++i) {
      if ((mask >> i & 1) == 0) continue;
      const uint64_t n = tile / quads * 16 + i / 4;
      const uint64_t k = tile % quads * 4 + i % 4;
      const auto weight = static_cast<int8_t>(*weights++);
      padding = padding || ((n >= n_count || k >= k_count) && weight != 0);
      below = below || weight == -128;
      sums[n] += weight;
      if (weight != 0) (*used)[n] = 1;
    }
  }
  report_below(constant, below, constant.tensor.data()->size(), problems);
  check_padding_and_sums(constant, padding, sums, problems);
}

/// Weights of layout k16n1.
void verify_wide_rows(const Constant& constant, std::vector<uint8_t>* used, std::vector<std::string>* problems) {
  const uint32_t n_count = extent(constant.tensor, 0);
  const uint32_t k_count = extent(constant.tensor, 1);
  const uint32_t padded_k = kernels::pad16(k_count);
  std::vector<int64_t> sums(kernels::pad16(n_count), 0);
  used->assign(sums.size(), 0);
  bool below = false;
  bool padding = false;
  const uint8_t* bytes = constant.at(constant.tensor.data());
  for (uint32_t n = 0; n < sums.size(); ++n, bytes += padded_k) {
    for (uint32_t k = 0; k < padded_k; ++k) {
      sums[n] += static_cast<int8_t>(bytes[k]);
      (*used)[n] |= bytes[k];
      below = below || bytes[k] == 0x80;
      padding = padding || ((n >= n_count || k >= k_count) && bytes[k] != 0);
    }
  }
  report_below(constant, below, constant.tensor.data()->size(), problems);
  check_padding_and_sums(constant, padding, sums, problems);
}

void verify_rows(const Constant& constant, std::vector<uint8_t>* used, std::vector<std::string>* problems) {
  const fb::Blob* blob = constant.tensor.data();
  const size_t row_width = constant.tensor.shape()->size() > 1 ? extent(constant.tensor, 1) : 1;
  const size_t rows = static_cast<size_t>(blob->size()) / row_width;
  used->assign(rows, 0);
  uint8_t below = 0;
  const uint8_t* bytes = constant.at(blob);
  for (size_t row = 0; row < rows; ++row, bytes += row_width) {
    uint8_t any = 0;
    for (size_t i = 0; i < row_width; ++i) {
      any = static_cast<uint8_t>(any | bytes[i]);
      below = static_cast<uint8_t>(below | (bytes[i] == 0x80 ? 0xFFu : 0u));
    }
    (*used)[row] = any;
  }
  report_below(constant, below != 0, constant.tensor.data()->size(), problems);
}

/// Elements of type T whose exponent has all bits of `exponent` are NaN or infinite.
template <typename T>
uint64_t count_not_finite(const uint8_t* bytes, uint64_t count, T exponent) {
  uint64_t bad = 0;
  for (uint64_t i = 0; i < count; ++i) bad += (load<T>(bytes, i) & exponent) == exponent ? 1u : 0u;
  return bad;
}

void verify_floats(const Constant& constant, std::vector<std::string>* problems) {
  const fb::Blob* blob = constant.tensor.data();
  const bool half = constant.tensor.type() == fb::DType::f16;
  const uint64_t bad = half ? count_not_finite<uint16_t>(constant.at(blob), blob->size() / 2, 0x7C00u)
                            : count_not_finite<uint32_t>(constant.at(blob), blob->size() / 4, 0x7F800000u);
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
    std::vector<uint8_t> used;
    if (t->type() == fb::DType::i8 && t->layout() == fb::Layout::tile_k4n16) {
      verify_tile(constant, &used, problems);
    } else if (int4_weights(*t)) {
      verify_int4(constant, &used, problems);
    } else if (sparse_weights(*t)) {
      verify_sparse(constant, &used, problems);
    } else if (bitmask_weights(*t)) {
      verify_bitmask(constant, &used, problems);
    } else if (t->layout() == fb::Layout::k16n1) {
      verify_wide_rows(constant, &used, problems);
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
