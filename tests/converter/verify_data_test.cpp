// Errors that `bantam verify` finds in values: one damaged constant each, in a file with correct checksums.
#include "format/verify_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "format/bitmask.h"
#include "format/sparse_1x4.h"
#include "format/weight_codec.h"
#include "kernels/kernels.h"
#include "tests/session/bert.h"

namespace bantam::convert {
namespace {

using testing::WeightType;

constexpr uint32_t kRows = 19;       // 16 + 3: with padding rows
constexpr uint32_t kColumns = 1102;  // more lines than 16-bit sums can hold; with padding columns

constexpr uint32_t kPairedColumns = 40;  // five times 8: a group of 32 and one of 8

/// Returns the byte offset of weights (n, k) and (n, k + 4) in the int4 tile.
size_t pair_place(uint32_t n, uint32_t k) { return (n / 16 * (kPairedColumns / 8) + k / 8) * 64 + n % 16 * 4 + k % 4; }

/// Returns the byte offset of row n's factor of a group, after 32 scales.
size_t factor_place(uint32_t n, uint32_t group) { return 32 * sizeof(float) + (n / 16 * 2 + group) * 16 + n % 16; }

/// Adds int4 weights 1, 2, ..., -8, ..., which no op reads.
void add_int4(testing::ModelBuilder& builder) {
  const int32_t index =
      builder.weights("four", kRows, kPairedColumns, std::vector<float>(kRows * kPairedColumns, 1), WeightType::kI8);
  std::vector<uint8_t> bytes(size_t{2} * kPairedColumns / 8 * 64, 0x88);
  std::vector<float> scales(32, 0.5f);
  std::vector<uint8_t> scales_and_factors(32 * sizeof(float) + 64, 1);
  std::memcpy(scales_and_factors.data(), scales.data(), 32 * sizeof(float));
  std::vector<int32_t> sums(32, 0);
  for (uint32_t n = 0; n < kRows; ++n) {
    for (uint32_t group = 0; group < 2; ++group) {
      scales_and_factors[factor_place(n, group)] = static_cast<uint8_t>(1 + (n + group) % 15);
    }
    for (uint32_t k = 0; k < kPairedColumns; ++k) {
      const uint32_t half = (n + k + 9) % 16;
      uint8_t& byte = bytes[pair_place(n, k)];
      byte = static_cast<uint8_t>(k % 8 < 4 ? (byte & 0xF0u) | half : (byte & 0x0Fu) | half << 4);
      sums[n] += (static_cast<int32_t>(half) - 8) * scales_and_factors[factor_place(n, k / 32)];
    }
  }
  fb::TensorT& tensor = *builder.model.tensors[static_cast<size_t>(index)];
  tensor.type = fb::DType::i4;
  tensor.layout = fb::Layout::tile_i4_k8n16;
  tensor.scale_kind = fb::ScaleKind::per_group;
  tensor.group = 32;
  tensor.data = std::make_unique<fb::Blob>(builder.store(bytes.data(), bytes.size()));
  tensor.scales = std::make_unique<fb::Blob>(builder.store(scales_and_factors.data(), scales_and_factors.size()));
  tensor.sums = std::make_unique<fb::Blob>(builder.store(sums.data(), sums.size() * sizeof(int32_t)));
}

/// Adds 16 outputs by 12 inputs, of which 10 are real, in layout `layout`: eight weights for each output but the last.
void add_with_zeros(testing::ModelBuilder& builder, const char* name, fb::Layout layout, size_t size,
                    std::vector<uint8_t> (*compress)(const int8_t*, size_t, size_t)) {
  std::vector<int8_t> rows(size_t{16} * 10, 0);
  std::vector<int32_t> sums(16, 0);
  for (size_t o = 0; o < 15; ++o) {
    for (size_t k = 0; k < 8; ++k) sums[o] += rows[o * 10 + k] = static_cast<int8_t>(o + k + 1);
  }
  const int32_t index = builder.weights(name, 16, 10, std::vector<float>(size_t{16} * 10, 1), WeightType::kI8);
  const std::vector<uint8_t> bytes = compress(rows.data(), 16, 10);
  EXPECT_EQ(bytes.size(), size);
  fb::TensorT& tensor = *builder.model.tensors[static_cast<size_t>(index)];
  tensor.layout = layout;
  tensor.data = std::make_unique<fb::Blob>(builder.store(bytes.data(), bytes.size()));
  tensor.sums = std::make_unique<fb::Blob>(builder.store(sums.data(), sums.size() * sizeof(int32_t)));
}

/// Adds ternary weights, kRows outputs by kPairedColumns inputs, padded to 48.
void add_ternary(testing::ModelBuilder& builder) {
  const int32_t index =
      builder.weights("three", kRows, kPairedColumns, std::vector<float>(kRows * kPairedColumns, 1), WeightType::kI8);
  std::vector<int8_t> weights(size_t{kRows} * kPairedColumns);
  std::vector<int32_t> sums(32, 0);
  for (size_t i = 0; i < weights.size(); ++i) {
    sums[i / kPairedColumns] += weights[i] = static_cast<int8_t>(static_cast<int>(i * 7 / 5 % 3) - 1);
  }
  fb::TensorT& tensor = *builder.model.tensors[static_cast<size_t>(index)];
  tensor.type = fb::DType::ternary;
  tensor.layout = fb::Layout::tile_ternary_k16n16;
  tensor.fits_words = false;
  const std::vector<uint8_t> bytes = weight_codec(tensor.layout).encode(weights.data(), kRows, kPairedColumns);
  tensor.data = std::make_unique<fb::Blob>(builder.store(bytes.data(), bytes.size()));
  tensor.sums = std::make_unique<fb::Blob>(builder.store(sums.data(), sums.size() * sizeof(int32_t)));
}

/// Adds weights that fit words: the largest possible with three of 41 in the first inputs.
void add_fitting(testing::ModelBuilder& builder) {
  std::vector<float> values(size_t{kRows} * kColumns);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % kColumns == 0 ? 127.0f : i % 2 == 0 ? 41.0f : -41.0f;
  const int32_t index = builder.weights("fitting", kRows, kColumns, values, WeightType::kI8);
  builder.model.tensors[static_cast<size_t>(index)]->fits_words = true;
}

/// Two blocks for each output, in one span.
constexpr size_t kSparseSteps = 8;
/// The masks of three tiles precede the weights of a bitmask.
constexpr size_t kMaskBytes = 24;

testing::ModelBuilder sound() {
  testing::ModelBuilder builder = testing::build(testing::random_bert({}, 3), WeightType::kI8);
  std::vector<float> values(kRows * kColumns);
  // Row 1 is as negative as possible; row 2 is 0.
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = i / kColumns;
    values[i] = row == 1 ? -1.0f : (row == 2 ? 0.0f : std::sin(static_cast<float>(i)));
  }
  builder.weights("tile", kRows, kColumns, values, WeightType::kI8);
  add_fitting(builder);
  builder.table("rows", kRows, kColumns, values, WeightType::kI8);
  builder.weights("half", kRows, kColumns, values, WeightType::kF16);
  builder.weights("float", kRows, kColumns, values, WeightType::kF32);
  add_int4(builder);
  add_ternary(builder);
  add_with_zeros(builder, "sparse", fb::Layout::sparse_1x4, kSparseSteps * 24 + 32, compress_1x4);
  add_with_zeros(builder, "bits", fb::Layout::bitmask_k4n16, kMaskBytes + 15 * 8 + kernels::kBitmaskSlack,
                 compress_bitmask);
  builder.model.tensors.back()->fits_words = true;
  return builder;
}

const fb::TensorT& named(const testing::ModelBuilder& builder, const std::string& name) {
  for (const auto& tensor : builder.model.tensors) {
    if (tensor->name == name) return *tensor;
  }
  throw std::runtime_error(name);
}

std::vector<std::string> problems_of(const testing::ModelBuilder& builder, DataSummary* summary = nullptr) {
  const testing::FileBytes file(builder.finish());
  Model model;
  Fault fault;
  EXPECT_EQ(Model::open(file.data(), file.size(), &model, &fault), Status::kOk) << fault.what;
  std::vector<std::string> problems;
  const DataSummary found = verify_data(model, &problems);
  if (summary != nullptr) *summary = found;
  return problems;
}

/// Returns the byte offset of weight (n, k) in the tile.
size_t place(uint32_t n, uint32_t k) { return (n / 16 * ((kColumns + 3) / 4) + k / 4) * 64 + n % 16 * 4 + k % 4; }

template <typename T>
void put(testing::ModelBuilder& builder, const fb::Blob& blob, size_t index, T value) {
  std::memcpy(builder.data.data() + blob.offset() + index * sizeof(T), &value, sizeof(T));
}

TEST(VerifyData, ASoundFileHasNoProblems) {
  const testing::ModelBuilder builder = sound();
  DataSummary summary;
  EXPECT_EQ(problems_of(builder, &summary), std::vector<std::string>{});
  uint64_t elements = 0;
  uint32_t constants = 0;
  for (const auto& tensor : builder.model.tensors) {
    if (tensor->role != fb::Role::constant) continue;
    ++constants;
    uint64_t count = 1;
    for (const fb::Dim& dim : tensor->shape) count *= static_cast<uint64_t>(dim.b());
    elements += count;
  }
  EXPECT_EQ(summary.constants, constants);
  EXPECT_EQ(summary.elements, elements);
}

struct Spoilt {
  const char* name;
  const char* tensor;
  const char* says;
  void (*spoil)(testing::ModelBuilder& builder, const fb::TensorT& tensor);
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const Spoilt kSpoilt[] = {
    {"tile_below", "tile", "1 weights are -128",
     [](auto& b, auto& t) { put<int8_t>(b, *t.data, place(4, 1101), -128); }},
    {"tile_padding_row", "tile", "padding", [](auto& b, auto& t) { put<int8_t>(b, *t.data, place(19, 0), 1); }},
    {"tile_last_padding_row", "tile", "padding", [](auto& b, auto& t) { put<int8_t>(b, *t.data, place(31, 1000), 1); }},
    {"tile_padding_column", "tile", "padding", [](auto& b, auto& t) { put<int8_t>(b, *t.data, place(3, 1102), 1); }},
    {"tile_weight", "tile", "sum of row 7",
     [](auto& b, auto& t) { b.data.data()[t.data->offset() + place(7, 600)] ^= 1; }},
    {"tile_sum", "tile", "sum of row 18", [](auto& b, auto& t) { put<int32_t>(b, *t.sums, 18, 1 << 20); }},
    {"tile_scale_zero", "tile", "scale 17 is 0", [](auto& b, auto& t) { put<float>(b, *t.scales, 17, 0); }},
    {"tile_scale_negative", "tile", "scale 2 is -1", [](auto& b, auto& t) { put<float>(b, *t.scales, 2, -1); }},
    {"tile_scale_nan", "tile", "scale 0 is nan", [](auto& b, auto& t) { put<float>(b, *t.scales, 0, kNan); }},
    {"tile_scale_infinite", "tile", "scale 1 is inf", [](auto& b, auto& t) { put<float>(b, *t.scales, 1, kInfinity); }},
    {"tile_words", "fitting", "four weights add up to 253",
     [](auto& b, auto& t) {
       put<int8_t>(b, *t.data, place(18, 4), -43);
       put<int8_t>(b, *t.data, place(18, 5), 42);
       put<int32_t>(b, *t.sums, 18, 127 - 41 - (43 + 41) + (42 + 41));
     }},
    {"bits_words", "bits", "four weights add up to 255",
     [](auto& b, auto& t) {
       put<int8_t>(b, *t.data, kMaskBytes, 127);
       put<int8_t>(b, *t.data, kMaskBytes + 1, 117);
       put<int32_t>(b, *t.sums, 0, 36 + 126 + 115);
     }},
    {"int4_weight", "four", "sum of row 7",
     [](auto& b, auto& t) { b.data.data()[t.data->offset() + pair_place(7, 33)] ^= 0x10; }},
    {"int4_padding_row", "four", "padding",
     [](auto& b, auto& t) { put<uint8_t>(b, *t.data, pair_place(19, 0), 0x87); }},
    {"int4_factor_zero", "four", "not 1 to 15",
     [](auto& b, auto& t) { put<uint8_t>(b, *t.scales, factor_place(18, 1), 0); }},
    {"int4_factor_large", "four", "not 1 to 15",
     [](auto& b, auto& t) { put<uint8_t>(b, *t.scales, factor_place(0, 0), 16); }},
    {"int4_scale_zero", "four", "scale 17 is 0", [](auto& b, auto& t) { put<float>(b, *t.scales, 17, 0); }},
    {"ternary_weight", "three", "sum of row 0", [](auto& b, auto& t) { b.data.data()[t.data->offset()] ^= 1; }},
    {"ternary_padding_row", "three", "padding", [](auto& b, auto& t) { put<uint8_t>(b, *t.data, 3 * 64 + 12, 0x56); }},
    {"ternary_padding_column", "three", "padding", [](auto& b, auto& t) { put<uint8_t>(b, *t.data, 2 * 64, 0x15); }},
    {"ternary_scale_zero", "three", "scale 17 is 0", [](auto& b, auto& t) { put<float>(b, *t.scales, 17, 0); }},
    {"sparse_weight", "sparse", "sum of row", [](auto& b, auto& t) { b.data.data()[t.data->offset() + 20] ^= 1; }},
    {"sparse_below", "sparse", "1 weights are -128", [](auto& b, auto& t) { put<int8_t>(b, *t.data, 16, -128); }},
    {"sparse_beyond_the_inputs", "sparse", "padding",
     [](auto& b, auto& t) { put<uint16_t>(b, *t.data, kSparseSteps * 8 + 7, 2); }},
    {"sparse_scale", "sparse", "scale 3 is nan", [](auto& b, auto& t) { put<float>(b, *t.scales, 3, kNan); }},
    {"bits_weight", "bits", "sum of row 0",
     [](auto& b, auto& t) { b.data.data()[t.data->offset() + kMaskBytes] ^= 1; }},
    {"bits_below", "bits", "1 weights are -128",
     [](auto& b, auto& t) { put<int8_t>(b, *t.data, kMaskBytes + 1, -128); }},
    {"bits_beyond_the_inputs", "bits", "padding",
     [](auto& b, auto& t) {
       put<uint8_t>(b, *t.data, 0, 0xFE);
       put<uint8_t>(b, *t.data, 23, 0x80);
     }},
    {"bits_scale", "bits", "scale 3 is nan", [](auto& b, auto& t) { put<float>(b, *t.scales, 3, kNan); }},
    {"rows_below", "rows", "2 weights are -128",
     [](auto& b, auto& t) {
       put<int8_t>(b, *t.data, 5, -128);
       put<int8_t>(b, *t.data, kRows * kColumns - 1, -128);
     }},
    {"rows_scale_zero", "rows", "scale 18 is 0", [](auto& b, auto& t) { put<float>(b, *t.scales, 18, 0); }},
    {"half_nan", "half", "1 elements", [](auto& b, auto& t) { put<uint16_t>(b, *t.data, 77, 0x7E00); }},
    {"half_infinite", "half", "1 elements", [](auto& b, auto& t) { put<uint16_t>(b, *t.data, 78, 0xFC00); }},
    {"float_nan", "float", "1 elements", [](auto& b, auto& t) { put<float>(b, *t.data, 3, kNan); }},
    {"float_infinite", "float", "1 elements", [](auto& b, auto& t) { put<float>(b, *t.data, 3, -kInfinity); }},
    {"bias_nan", "layer.0.up.bias", "1 elements", [](auto& b, auto& t) { put<float>(b, *t.data, 1, kNan); }},
};

class VerifyData : public ::testing::TestWithParam<Spoilt> {};

TEST_P(VerifyData, NamesTheTensorAndTheRule) {
  testing::ModelBuilder builder = sound();
  GetParam().spoil(builder, named(builder, GetParam().tensor));
  const std::vector<std::string> problems = problems_of(builder);
  ASSERT_FALSE(problems.empty());
  const std::string begin = std::string("tensor ") + GetParam().tensor + ":";
  EXPECT_EQ(problems[0].substr(0, begin.size()), begin);
  EXPECT_NE(problems[0].find(GetParam().says), std::string::npos) << problems[0];
}

INSTANTIATE_TEST_SUITE_P(Values, VerifyData, ::testing::ValuesIn(kSpoilt),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(VerifyDataScales, ARowOfZerosNeedsNoScale) {
  testing::ModelBuilder builder = sound();
  put<float>(builder, *named(builder, "tile").scales, 2, 0);
  put<float>(builder, *named(builder, "rows").scales, 2, 0);
  EXPECT_EQ(problems_of(builder), std::vector<std::string>{});
}

}  // namespace
}  // namespace bantam::convert
