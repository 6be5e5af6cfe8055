// int4 weights in groups, weights rounded for the layer's output, and files that contain them.
#include "quantize/int4.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "converter/pack_graphs.h"
#include "data/texts.h"
#include "pack/build.h"
#include "quantize/int8.h"
#include "quantize/round.h"
#include "run/runner.h"

namespace bantam::convert {
namespace {

std::vector<float> normal_values(uint32_t seed, size_t count, float deviation = 0.05f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

double read(const Int4Scales& scales, size_t group, int8_t stored, size_t i) {
  return double{scales.scale} * scales.factors[i / group] * stored;
}

TEST(Int4, StoredWeightsAreTheNearestThatGroupsHave) {
  for (const size_t group : {8u, 32u, 64u}) {
    for (const size_t count : {1u, 31u, 64u, 100u}) {
      const std::vector<float> row = normal_values(static_cast<uint32_t>(group + count), count);
      const Int4Scales scales = int4_scales(row.data(), count, group);
      ASSERT_EQ(scales.factors.size(), (count + group - 1) / group);
      std::vector<int8_t> stored(count);
      int4_quantize(row.data(), count, group, scales, stored.data());
      int largest = 0;
      for (size_t i = 0; i < count; ++i) {
        const int factor = scales.factors[i / group];
        largest = std::max(largest, factor);
        ASSERT_GE(factor, 1);
        ASSERT_LE(factor, 15);
        ASSERT_GE(stored[i], -8);
        ASSERT_LE(stored[i], 7);
        const double step = double{scales.scale} * factor;
        const bool clipped = stored[i] == -8 || stored[i] == 7;
        ASSERT_TRUE(clipped || std::fabs(read(scales, group, stored[i], i) - row[i]) <= 0.5001 * step) << i;
      }
      EXPECT_GE(largest, 14);  // the whole range of factors is used
    }
  }
}

TEST(Int4, AGroupOfSmallWeightsKeepsSmallSteps) {
  std::vector<float> row = normal_values(7, 128, 1.0f);
  for (size_t i = 32; i < 64; ++i) row[i] *= 0.2f;
  const Int4Scales scales = int4_scales(row.data(), 128, 32);
  EXPECT_LT(scales.factors[1] * 3, scales.factors[0]);
  // Least squares by groups is better than one step for the whole row.
  const auto error_of = [&](size_t group) {
    const Int4Scales found = int4_scales(row.data(), 128, group);
    std::vector<int8_t> stored(128);
    int4_quantize(row.data(), 128, group, found, stored.data());
    double error = 0;
    for (size_t i = 0; i < 128; ++i) error += std::pow(read(found, group, stored[i], i) - row[i], 2);
    return error;
  };
  EXPECT_LT(error_of(32), 0.9 * error_of(128));
}

TEST(Int4, ZerosHaveAScaleOfOne) {
  const std::vector<float> zeros(40, 0.0f);
  const Int4Scales scales = int4_scales(zeros.data(), 40, 32);
  EXPECT_EQ(scales.scale, 1.0f);
  std::vector<int8_t> stored(40, 1);
  int4_quantize(zeros.data(), 40, 32, scales, stored.data());
  for (const int8_t value : stored) EXPECT_EQ(value, 0);
}

/// Rows of inputs with correlated columns, like activations.
std::vector<float> correlated(size_t rows, size_t width) {
  const std::vector<float> causes = normal_values(21, rows * 6, 1.0f);
  const std::vector<float> mix = normal_values(22, 6 * width, 1.0f);
  std::vector<float> x = normal_values(23, rows * width, 0.2f);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < width; ++i) {
      for (size_t c = 0; c < 6; ++c) x[r * width + i] += causes[r * 6 + c] * mix[c * width + i] + 0.1f;
    }
  }
  return x;
}

double output_error(const std::vector<float>& x, const std::vector<float>& w, const Rounded& rounded, size_t width,
                    size_t group) {
  const size_t groups = group == 0 ? 0 : (width + group - 1) / group;
  double error = 0;
  for (size_t at = 0; at < x.size(); at += width) {
    for (size_t n = 0; n < rounded.scales.size(); ++n) {
      double difference = 0;
      for (size_t k = 0; k < width; ++k) {
        const double factor = groups == 0 ? 1.0 : rounded.factors[n * groups + k / group];
        const double value = rounded.integers[n * width + k] * factor * double{rounded.scales[n]};
        difference += (value - double{w[n * width + k]}) * double{x[at + k]};
      }
      error += difference * difference;
    }
  }
  return error;
}

TEST(Gptq, LayersOutputsComeNearer) {
  constexpr size_t kWidth = 48;
  constexpr size_t kRows = 20;
  const std::vector<float> x = correlated(400, kWidth);
  const std::vector<float> w = normal_values(31, kRows * kWidth);
  Moments moments{kWidth, 0, std::vector<double>(kWidth * kWidth), std::vector<double>(kWidth)};
  for (size_t at = 0; at < x.size(); at += kWidth) moments.add(x.data() + at);
  // Independent inputs of the same size: there is nothing to gain, so every weight is rounded to the nearest value.
  Moments flat{kWidth, 1, std::vector<double>(kWidth * kWidth), std::vector<double>(kWidth)};
  for (size_t i = 0; i < kWidth; ++i) flat.products[i * kWidth + i] = 1;
  for (const fb::DType type : {fb::DType::i4, fb::DType::i8}) {
    const size_t group = type == fb::DType::i4 ? 16 : 0;
    const Rounded nearest = round_matrix(w, kRows, type, group, flat);
    const Rounded rounded = round_matrix(w, kRows, type, group, moments);
    EXPECT_LT(output_error(x, w, rounded, kWidth, group), 0.5 * output_error(x, w, nearest, kWidth, group))
        << type_name(type);
    std::vector<int8_t> row(kWidth);
    for (size_t n = 0; n < kRows; ++n) {
      if (type == fb::DType::i8) {
        int8_quantize(w.data() + n * kWidth, kWidth, nearest.scales[n], row.data());
      } else {
        const Int4Scales scales = int4_scales(w.data() + n * kWidth, kWidth, group);
        int4_quantize(w.data() + n * kWidth, kWidth, group, scales, row.data());
      }
      for (size_t k = 0; k < kWidth; ++k) ASSERT_EQ(nearest.integers[n * kWidth + k], row[k]) << n << ' ' << k;
    }
  }
}

TEST(Gptq, LongRowsFitWords) {
  constexpr size_t kWidth = 136;
  constexpr size_t kRows = 10;
  const std::vector<float> x = correlated(300, kWidth);
  const std::vector<float> w = normal_values(43, kRows * kWidth);
  Moments moments{kWidth, 0, std::vector<double>(kWidth * kWidth), std::vector<double>(kWidth)};
  for (size_t at = 0; at < x.size(); at += kWidth) moments.add(x.data() + at);
  const Rounded rounded = round_matrix(w, kRows, fb::DType::i8, 0, moments);
  for (size_t n = 0; n < kRows; ++n) {
    EXPECT_TRUE(fits_words(rounded.integers.data() + n * kWidth, kWidth)) << n;
  }
}

TEST(Gptq, InputsThatAreAlwaysZeroDoNoHarm) {
  constexpr size_t kWidth = 24;
  const std::vector<float> w = normal_values(41, kWidth);
  const Moments moments{kWidth, 10, std::vector<double>(kWidth * kWidth), std::vector<double>(kWidth)};
  const Rounded rounded = round_matrix(w, 1, fb::DType::i8, 0, moments);
  for (size_t k = 0; k < kWidth; ++k) {
    EXPECT_NEAR(rounded.integers[k] * rounded.scales[0], w[k], 0.51f * rounded.scales[0]);
  }
}

/// Returns the largest difference of the first output from the f32 build over random ids.
double distance(const Graph& graph, const Built& built) {
  TypeOptions exact;
  exact.weights = fb::DType::f32;
  const FileBytes bytes = build(graph, exact);
  Runner reference(bytes, 16);
  Runner runner(built.bytes, 16);
  double worst = 0;
  for (const Sample& sample : random_samples(reference.model().vocabulary(), 16)) {
    const OutputRows expected = reference.run(sample)[0];
    const OutputRows got = runner.run(sample)[0];
    for (size_t i = 0; i < expected.values.size(); ++i) {
      worst = std::max(worst, std::fabs(double{expected.values[i]} - double{got.values[i]}));
    }
  }
  return worst;
}

TEST(Int4, FilesRunAndAreNearTheirModel) {
  const Graph graph = fixture::bert_graph({});
  TypeOptions options;
  options.weights = fb::DType::i4;
  for (const uint32_t group :
       {8u, 32u, 64u}) {  // widths of 40 and 72: groups that end early, and one longer than a row
    options.group = group;
    const Built built = build_model(graph, options);
    size_t int4 = 0;
    for (const auto& tensor : built.graph.model.tensors) int4 += tensor->type == fb::DType::i4 ? size_t{1} : size_t{0};
    EXPECT_GE(int4, 8u);
    const double four = distance(graph, built);
    const double eight = distance(graph, build_model(graph, {}));
    EXPECT_GT(four, eight);
    EXPECT_LT(four, 60 * eight) << group;
  }
}

}  // namespace
}  // namespace bantam::convert
