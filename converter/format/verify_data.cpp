#include "format/verify_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "format/bytes.h"
#include "format/view.h"
#include "format/weight_codec.h"

namespace bantam::convert {
namespace {

/// A constant tensor and the location of its bytes.
struct CheckedTensor {
  const fb::Tensor& tensor;
  const uint8_t* data;  // the data section

  std::string name() const { return tensor.name()->str(); }
  const uint8_t* at(const fb::Blob* blob) const { return data + blob->offset(); }
};

/// Bytes of one line of a tile: 16 outputs by 4 k.
constexpr uint32_t kLine = 64;

/// Findings for each position in consecutive int8 lines. The loops over positions have no branches, so that the
/// compiler vectorizes them.
struct Lines {
  std::array<int64_t, kLine> sum = {};
  std::array<uint8_t, kLine> any = {};    // not 0: some value is nonzero
  std::array<uint8_t, kLine> below = {};  // not 0: some value is -128

  void add(const uint8_t* bytes, uint64_t lines) {
    constexpr uint64_t kMost = 255;  // the number of 8-bit values whose sum fits 16 bits
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

uint64_t count_below(const uint8_t* bytes, uint64_t size) {
  return static_cast<uint64_t>(std::count(bytes, bytes + size, uint8_t{0x80}));
}

void report_below(const CheckedTensor& constant, uint64_t below, std::vector<std::string>* problems) {
  if (below == 0) return;
  problems->push_back(
      fmt::format("tensor {}: {} weights are -128; they must lie in [-127, 127]", constant.name(), below));
}

void verify_scales(const CheckedTensor& constant, const std::vector<uint8_t>& used,
                   std::vector<std::string>* problems) {
  const fb::Blob* blob = constant.tensor.scales();
  if (!present(blob)) return;
  // In int4 weights, factors follow the scales. The model is open, so that its blobs are within memory.
  const size_t all = static_cast<size_t>(blob->size() / 4);
  const size_t count = int4_weights(constant.tensor) ? kernels::pad16(extent(constant.tensor, 0)) : all;
  for (size_t i = 0; i < count; ++i) {
    const float scale = load<float>(constant.at(blob), i);
    const bool needed = i < used.size() && used[i] != 0;
    if (std::isfinite(scale) && scale >= 0 && (scale > 0 || !needed)) continue;
    problems->push_back(
        fmt::format("tensor {}: scale {} is {}, which is not a positive number", constant.name(), i, scale));
    return;
  }
}

/// `sums`: the sums of each output's weights.
void check_padding_and_sums(const CheckedTensor& constant, bool padding, const std::vector<int64_t>& sums,
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

/// `most`: the largest sum of four magnitudes whose products a 16-bit word would have to hold.
void check_words(const CheckedTensor& constant, int32_t most, std::vector<std::string>* problems) {
  if (!constant.tensor.fits_words() || most <= kernels::kMostInWords) return;
  problems->push_back(fmt::format("tensor {}: four weights add up to {}, the file states that none do to more than {}",
                                  constant.name(), most, kernels::kMostInWords));
}

/// The largest such sum in 16 outputs of an int8 weight tile.
int32_t largest_four(const uint8_t* bytes, uint64_t lines) {
  static constexpr std::array<uint8_t, kLine> kNone = {};  // replaces the missing line after a single last one
  const auto magnitude = [](uint8_t byte) { return std::abs(static_cast<int32_t>(static_cast<int8_t>(byte))); };
  int32_t most = 0;
  for (uint64_t line = 0; line < lines; line += 2, bytes += size_t{2} * kLine) {
    const uint8_t* next = line + 1 < lines ? bytes + kLine : kNone.data();
    for (uint32_t i = 0; i < kLine; i += 2) {
      most =
          std::max(most, magnitude(bytes[i]) + magnitude(bytes[i + 1]) + magnitude(next[i]) + magnitude(next[i + 1]));
    }
  }
  return most;
}

/// Checks ranges, padding and sums of an int8 weight tile [N/16][K/4][16][4] line by line, which is three times as fast
/// as block by block; most weights are in this layout. `used[n]`: row n contains a nonzero value.
void verify_tile(const CheckedTensor& constant, std::vector<uint8_t>* used, std::vector<std::string>* problems) {
  const uint32_t n_count = extent(constant.tensor, 0);
  const uint32_t k_count = extent(constant.tensor, 1);
  const uint32_t padded_n = kernels::pad16(n_count);
  const uint64_t lines = kernels::pad4(k_count) / 4;
  std::vector<int64_t> sums(padded_n, 0);
  used->assign(padded_n, 0);
  bool below = false;
  bool padding = false;
  int32_t most = 0;
  const uint8_t* bytes = constant.at(constant.tensor.data());
  for (uint32_t n = 0; n < padded_n; n += 16, bytes += lines * kLine) {
    Lines found;
    found.add(bytes, lines);
    if (constant.tensor.fits_words()) most = std::max(most, largest_four(bytes, lines));
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
  report_below(constant, below ? count_below(constant.at(constant.tensor.data()), constant.tensor.data()->size()) : 0,
               problems);
  check_padding_and_sums(constant, padding, sums, problems);
  check_words(constant, most, problems);
}

/// Makes the same checks block by block for weights of any layout.
class Blocks : public BlockSink {
 public:
  Blocks(const CheckedTensor& constant, std::vector<uint8_t>* used)
      : rows_(extent(constant.tensor, 0)),
        columns_(extent(constant.tensor, 1)),
        factors_(constant.tensor, present(constant.tensor.scales()) ? constant.at(constant.tensor.scales()) : nullptr),
        sums_(kernels::pad16(rows_), 0),
        latest_(sums_.size(), Block{1, {}}),
        used_(*used) {
    used->assign(sums_.size(), 0);
  }

  void block(uint32_t n, uint32_t k, const int8_t* weights) override {
    note_words(n, k, weights);
    int32_t sum = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      if (weights[i] == 0) continue;
      padding_ = padding_ || n >= rows_ || k + i >= columns_;
      below_ += weights[i] == -128 ? 1u : 0u;
      used_[n] = 1;
      sum += weights[i];
    }
    if (sum != 0) sums_[n] += k < columns_ ? sum * factors_.of(n, k) : sum;
  }

  void report(const CheckedTensor& constant, std::vector<std::string>* problems) const {
    report_below(constant, below_, problems);
    check_padding_and_sums(constant, padding_, sums_, problems);
    check_words(constant, most_, problems);
  }

 private:
  /// Sums of the magnitudes in a row's latest block, whose first input is k.
  struct Block {
    uint32_t k;
    std::array<int32_t, 2> sums;
  };

  void note_words(uint32_t n, uint32_t k, const int8_t* weights) {
    Block block = {k, {std::abs(weights[0]) + std::abs(weights[1]), std::abs(weights[2]) + std::abs(weights[3])}};
    const Block& before = latest_[n];
    for (size_t i = 0; i < 2 && k % 8 == 4 && before.k == k - 4; ++i) block.sums[i] += before.sums[i];
    most_ = std::max({most_, block.sums[0], block.sums[1]});
    latest_[n] = block;
  }

  uint32_t rows_, columns_;
  GroupFactors factors_;
  std::vector<int64_t> sums_;
  std::vector<Block> latest_;
  std::vector<uint8_t>& used_;
  int32_t most_ = 0;
  uint64_t below_ = 0;
  bool padding_ = false;
};

/// Checks the factors of int4 weights, except those of padding outputs.
void verify_factors(const CheckedTensor& constant, std::vector<std::string>* problems) {
  const GroupFactors factors(constant.tensor, constant.at(constant.tensor.scales()));
  for (uint32_t n = 0; n < extent(constant.tensor, 0); ++n) {
    for (uint32_t k = 0; k < extent(constant.tensor, 1); k += constant.tensor.group()) {
      if (factors.of(n, k) >= 1 && factors.of(n, k) <= 15) continue;
      problems->push_back(fmt::format("tensor {}: a factor of int4 weights is not 1 to 15", constant.name()));
      return;
    }
  }
}

void verify_weights(const CheckedTensor& constant, const WeightCodec& codec, std::vector<uint8_t>* used,
                    std::vector<std::string>* problems) {
  if (int4_weights(constant.tensor)) verify_factors(constant, problems);
  Blocks blocks(constant, used);
  codec.visit(constant.tensor, constant.at(constant.tensor.data()), blocks);
  blocks.report(constant, problems);
}

void verify_rows(const CheckedTensor& constant, std::vector<uint8_t>* used, std::vector<std::string>* problems) {
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
  report_below(constant, below != 0 ? count_below(constant.at(blob), blob->size()) : 0, problems);
}

/// Counts elements of type T that are NaN or infinite, that is, whose exponent has all bits of `exponent`.
template <typename T>
uint64_t count_not_finite(const uint8_t* bytes, size_t count, T exponent) {
  uint64_t bad = 0;
  for (size_t i = 0; i < count; ++i) bad += (load<T>(bytes, i) & exponent) == exponent ? 1u : 0u;
  return bad;
}

void verify_floats(const CheckedTensor& constant, std::vector<std::string>* problems) {
  const fb::Blob* blob = constant.tensor.data();
  const bool half = constant.tensor.type() == fb::DType::f16;
  const uint64_t bad =
      half ? count_not_finite<uint16_t>(constant.at(blob), static_cast<size_t>(blob->size() / 2), 0x7C00u)
           : count_not_finite<uint32_t>(constant.at(blob), static_cast<size_t>(blob->size() / 4), 0x7F800000u);
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
    const CheckedTensor constant{*t, model.data()};
    ++summary.constants;
    summary.elements += element_count(*t);
    std::vector<uint8_t> used;
    const WeightCodec* codec = find_weight_codec(t->layout());
    if (t->layout() == fb::Layout::tile_k4n16) {
      verify_tile(constant, &used, problems);
    } else if (codec != nullptr) {
      verify_weights(constant, *codec, &used, problems);
    } else if (t->type() == fb::DType::i8) {
      verify_rows(constant, &used, problems);
    } else if (t->type() == fb::DType::f32 || t->type() == fb::DType::f16) {
      verify_floats(constant, problems);
    }
    verify_scales(constant, used, problems);
  }
  return summary;
}

}  // namespace bantam::convert
