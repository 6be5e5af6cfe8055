// int8 rows, f16, and the choice of types.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/float_bits.h"
#include "base/half.h"
#include "converter/import_fixture.h"
#include "converter/pack_graphs.h"
#include "quantize/int8.h"
#include "quantize/types.h"

namespace bantam::convert {
namespace {

using fixture::problems_of;

TEST(Int8, ErrorIsHalfAStepAtMost) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0.0f, 0.05f);
  for (size_t count : {1u, 3u, 16u, 17u, 40u, 384u}) {
    std::vector<float> row(count);
    for (float& value : row) value = normal(random);
    std::vector<int8_t> stored(count);
    const float scale = int8_scale(row.data(), count);
    const float worst = int8_quantize(row.data(), count, scale, stored.data());
    EXPECT_LE(worst, 0.5001f * scale);
    int largest = 0;
    float measured = 0;
    for (size_t i = 0; i < count; ++i) {
      largest = std::max(largest, std::abs(int{stored[i]}));
      measured = std::max(measured, std::fabs(static_cast<float>(stored[i]) * scale - row[i]));
    }
    EXPECT_EQ(largest, 127);  // the whole range is used
    EXPECT_EQ(measured, worst);
  }
}

TEST(Int8, LinearRowsFitWordsAtTheLeastScale) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal(0.0f, 0.05f);
  for (size_t count : {1u, 127u, 128u, 129u, 131u, 133u, 384u, 1536u}) {
    for (const float outlier : {0.0f, 0.2f, 2.0f}) {
      std::vector<float> row(count);
      for (float& value : row) value = normal(random);
      row[count / 2] += outlier;
      const float scale = linear_scale(row.data(), count);
      EXPECT_GE(scale, int8_scale(row.data(), count));
      if (count < kFittedInputs) {
        EXPECT_EQ(scale, int8_scale(row.data(), count));
        continue;
      }
      std::vector<int8_t> stored(count);
      int8_quantize(row.data(), count, scale, stored.data());
      EXPECT_TRUE(fits_words(stored.data(), count));
      if (scale == int8_scale(row.data(), count)) continue;
      int8_quantize(row.data(), count, scale * 0.99f, stored.data());
      EXPECT_FALSE(fits_words(stored.data(), count)) << count << " values, scale " << scale;
    }
  }
}

// Inputs 0, 1, 4 and 5 are added in one word, and 2, 3, 6 and 7 in another.
TEST(Int8, FourWeightsFitAWord) {
  const int8_t fits[] = {127, -124, 60, 60, 0, 0, -60, 71, 127, 124};
  EXPECT_TRUE(fits_words(fits, 10));
  for (size_t i = 0; i < 10; ++i) {
    int8_t one_more[10];
    std::copy_n(fits, 10, one_more);
    one_more[i] = static_cast<int8_t>(one_more[i] < 0 ? one_more[i] - 1 : one_more[i] + (one_more[i] < 127 ? 1 : 0));
    EXPECT_EQ(fits_words(one_more, 10), fits[i] == 127) << i;
  }
  EXPECT_TRUE(fits_words(fits, 0));
}

TEST(Int8, ZerosAndTinyRows) {
  const std::vector<float> zeros(20, 0.0f);
  std::vector<int8_t> stored(20, 1);
  EXPECT_EQ(int8_scale(zeros.data(), 20), 1.0f);
  EXPECT_EQ(int8_quantize(zeros.data(), 20, 1.0f, stored.data()), 0.0f);
  EXPECT_EQ(stored, std::vector<int8_t>(20, 0));
  const std::vector<float> tiny(20, 1e-40f);
  EXPECT_EQ(int8_scale(tiny.data(), 20), 1.0f);
}

TEST(Int8, ExactValuesStayExact) {
  const std::vector<float> row = {127.0f, -127.0f, 1.0f, 0.0f, -64.0f};
  std::vector<int8_t> stored(row.size());
  EXPECT_EQ(int8_scale(row.data(), row.size()), 1.0f);
  EXPECT_EQ(int8_quantize(row.data(), row.size(), 1.0f, stored.data()), 0.0f);
  for (size_t i = 0; i < row.size(); ++i) EXPECT_EQ(static_cast<float>(stored[i]), row[i]);
}

TEST(Int8, IntegersOfASourceComeBack) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> any(-90, 90);
  for (const float factor : {320.8638F, 1.0F, 3.7e-4F, 2.5e20F}) {
    std::vector<float> row;
    std::vector<int8_t> wanted, stored(256);
    for (int i = 0; i < 256; ++i) {
      wanted.push_back(static_cast<int8_t>(any(random)));
      row.push_back(static_cast<float>(wanted.back()) / factor);
    }
    const float scale = integer_scale(row.data(), row.size());
    EXPECT_NEAR(scale * factor, 1, 1e-5);
    EXPECT_LE(int8_quantize(row.data(), row.size(), scale, stored.data()), 1e-5F * scale);
    EXPECT_EQ(stored, wanted);
  }
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> row(256);
  for (float& value : row) value = normal(random);
  EXPECT_EQ(integer_scale(row.data(), row.size()), 0.0F);
  const std::vector<float> zeros(20, 0.0F), tiny(20, 1e-40F);
  EXPECT_EQ(integer_scale(zeros.data(), 20), 0.0F);
  EXPECT_EQ(integer_scale(tiny.data(), 20), 0.0F);
}

TEST(Half, EveryF16SurvivesTheWayThere) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = float_from_f16(static_cast<uint16_t>(bits));
    const uint16_t back = half_from_float(value);
    if (std::isnan(value)) {
      EXPECT_EQ(back & 0x7C00, 0x7C00);
      EXPECT_NE(back & 0x3FF, 0);
    } else {
      ASSERT_EQ(back, bits) << value;
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(half_from_float(1.0f + 0x1p-11f), half_from_float(1.0f));              // tie to even
  EXPECT_EQ(half_from_float(1.0f + 0x1.8p-10f), half_from_float(1.0f + 0x1p-9f));  // tie to even, upwards
  EXPECT_EQ(half_from_float(1.0f + 0x1.2p-11f), half_from_float(1.0f + 0x1p-10f));
  EXPECT_EQ(half_from_float(65519.0f), half_from_float(65504.0f));
  EXPECT_EQ(half_from_float(65520.0f), 0x7C00);
  EXPECT_EQ(half_from_float(0x1p-25f), 0);
  EXPECT_EQ(half_from_float(0x1.8p-25f), 1);
}

fb::DType type_of(const Graph& graph, const std::string& name) {
  for (const auto& tensor : graph.model.tensors) {
    if (tensor->name == name) return tensor->type;
  }
  throw std::out_of_range(name);
}

TEST(Types, SmallMatricesAndVectorsStayF32) {
  Graph graph = fixture::bert_graph({});
  choose_types(graph, {});
  EXPECT_EQ(type_of(graph, "words"), fb::DType::i8);
  EXPECT_EQ(type_of(graph, "layer.0.qkv.weight"), fb::DType::i8);
  EXPECT_EQ(type_of(graph, "layer.0.qkv.bias"), fb::DType::f32);
  EXPECT_EQ(type_of(graph, "classifier.weight"), fb::DType::f32);
  TypeOptions half;
  half.weights = fb::DType::f16;
  choose_types(graph, half);
  EXPECT_EQ(type_of(graph, "classifier.weight"), fb::DType::f16);
}

TEST(Types, KeepTheLastMatchWinsAndSourceNamesCount) {
  Graph graph = fixture::bert_graph({});
  for (auto& tensor : graph.model.tensors) {
    if (tensor->name == "layer.1.qkv.weight") tensor->source = {"encoder.1.query", "encoder.1.key"};
  }
  TypeOptions options;
  options.keep = {parse_keep("layer\\.0=f16"), parse_keep("ffn1=f32"), parse_keep("encoder.1.key=f32")};
  choose_types(graph, options);
  EXPECT_EQ(type_of(graph, "layer.0.qkv.weight"), fb::DType::f16);
  EXPECT_EQ(type_of(graph, "layer.0.ffn1.weight"), fb::DType::f32);
  EXPECT_EQ(type_of(graph, "layer.1.ffn1.weight"), fb::DType::f32);
  EXPECT_EQ(type_of(graph, "layer.1.qkv.weight"), fb::DType::f32);
  EXPECT_EQ(type_of(graph, "layer.1.ffn2.weight"), fb::DType::i8);
}

TEST(Types, BadKeepsAreUsageErrorsAllAtOnce) {
  EXPECT_NE(problems_of(ExitCode::kUsage, [] { parse_keep("x=f64"); }).find("x=f64"), std::string::npos);
  problems_of(ExitCode::kUsage, [] { parse_keep("noequals"); });
  problems_of(ExitCode::kUsage, [] { parse_keep("(=f32"); });
  Graph graph = fixture::bert_graph({});
  TypeOptions options;
  options.keep = {parse_keep("no such=f32"), parse_keep("neither=f16")};
  const std::string said = problems_of(ExitCode::kUsage, [&] { choose_types(graph, options); });
  EXPECT_NE(said.find("no such"), std::string::npos);
  EXPECT_NE(said.find("neither"), std::string::npos);
}

TEST(Types, NonFiniteWeightsAreNamed) {
  Graph graph = fixture::bert_graph({});
  graph.constants[0]->values[0] = NAN;
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    if (graph.model.tensors[i]->name == "layer.1.ffn1.weight") graph.constants[i]->values.back() = INFINITY;
  }
  const std::string said = problems_of(ExitCode::kInvalid, [&] { choose_types(graph, {}); });
  EXPECT_NE(said.find(graph.model.tensors[0]->name), std::string::npos);
  EXPECT_NE(said.find("layer.1.ffn1.weight"), std::string::npos);
}

TEST(Types, ValuesBeyondF16StayF32WithANote) {
  Graph graph = fixture::bert_graph({});
  graph.constants[0]->values[0] = 1e6f;  // words
  TypeOptions half;
  half.weights = fb::DType::f16;
  const std::string name = graph.model.tensors[0]->name;
  choose_types(graph, half);
  EXPECT_EQ(type_of(graph, name), fb::DType::f32);
  ASSERT_FALSE(graph.notes.empty());
  EXPECT_NE(graph.notes.back().find(name), std::string::npos);
}

}  // namespace
}  // namespace bantam::convert
