// What `bantam verify` finds in values: one spoilt constant each, in a file whose checksums are right.
#include "cli/verify_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/session/bert.h"

namespace bantam::cli {
namespace {

using testing::WeightType;

constexpr uint32_t kRows = 19;       // 16 and 3: padding rows
constexpr uint32_t kColumns = 1102;  // more lines than 16-bit sums hold; padding columns

testing::ModelBuilder sound() {
  testing::ModelBuilder builder = testing::build(testing::random_bert({}, 3), WeightType::kI8);
  std::vector<float> values(kRows * kColumns);
  // Row 1 is as negative as it can be; row 2 is 0.
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = i / kColumns;
    values[i] = row == 1 ? -1.0f : (row == 2 ? 0.0f : std::sin(static_cast<float>(i)));
  }
  builder.weights("tile", kRows, kColumns, values, WeightType::kI8);
  builder.table("rows", kRows, kColumns, values, WeightType::kI8);
  builder.weights("half", kRows, kColumns, values, WeightType::kF16);
  builder.weights("float", kRows, kColumns, values, WeightType::kF32);
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

/// Byte of weight (n, k) in the tile.
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
}  // namespace bantam::cli
