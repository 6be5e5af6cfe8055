// Attention with positions, gates, and norms before layers: graphs as importers build them, against the independent
// formulas of evaluate; and constants that replace published settings.
#include "graph/places.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "golden/evaluate.h"
#include "graph/builder.h"
#include "pack/build.h"
#include "run/runner.h"

namespace bantam::golden::places_test {
namespace {

using convert::AttentionSpec;
using convert::Builder;
using convert::EpilogueSpec;
using convert::Values;

constexpr uint32_t kVocabulary = 97, kHidden = 48, kHeads = 3, kHeadWidth = 16, kInner = 56, kPlaces = 80, kLayers = 3;

/// Random constants from one generator.
class Stack {
 public:
  explicit Stack(uint32_t seed) : random_(seed), build_(graph_) {
    build_.enter(fb::Part::embeddings);
    build_.input("input_ids", fb::InputKind::ids, kVocabulary);
    words_ = build_.embedding("words", kVocabulary, kHidden, values(kVocabulary * kHidden, 1.0F));
  }

  Values values(size_t count, float deviation, float mean = 0) {
    std::normal_distribution<float> normal(mean, deviation);
    Values out;
    for (size_t i = 0; i < count; ++i) out.values.push_back(normal(random_));
    return out;
  }
  static Values made(std::vector<float> numbers) {
    Values out;
    out.values = std::move(numbers);
    return out;
  }

  EpilogueSpec norm(fb::NormKind kind = fb::NormKind::layer) {
    EpilogueSpec spec;
    spec.norm = kind;
    spec.gamma = build_.vector(name("gamma"), values(kHidden, 0.2F, 1));
    spec.epsilon = 1e-5F;
    return spec;
  }

  int32_t linear(int32_t x, uint32_t rows, const EpilogueSpec& epilogue = {}, bool bias = false) {
    const uint32_t columns = build_.width(x);
    const float deviation = 1.0F / std::sqrt(static_cast<float>(columns));
    const int32_t weight = build_.linear_weight(name("weight"), rows, columns, values(rows * columns, deviation));
    return build_.linear(name("linear"), x, weight,
                         bias ? build_.vector(name("bias"), values(rows, 0.1F)) : convert::kAbsent, epilogue);
  }

  int32_t attend(int32_t x, int32_t rotary, const AttentionSpec& spec) {
    const int32_t qkv = linear(x, 3 * kHidden, {}, rotary < 0);
    return build_.attention(name("attention"), build_.split_heads(name("heads"), qkv, kHeads, {rotary}), spec);
  }

  /// Norms before layers, gated feed-forward layers, no biases; `rotary`: one entry per layer.
  convert::Graph pre_norm(const std::vector<int32_t>& rotary, const std::vector<AttentionSpec>& specs,
                          fb::ActivationKind activation, fb::NormKind kind) {
    int32_t x = build_.embed("embeddings", {{words_, fb::IndexSource::ids}}, norm());
    for (uint32_t i = 0; i < kLayers; ++i) {
      build_.enter(fb::Part::attention, static_cast<int32_t>(i));
      EpilogueSpec add;
      add.residual = x;
      x = linear(attend(i == 0 ? x : build_.row(name("norm"), x, norm(kind)), rotary[i], specs[i]), kHidden, add);
      build_.enter(fb::Part::feed_forward, static_cast<int32_t>(i));
      const int32_t in = build_.row(name("norm"), x, norm(kind));
      EpilogueSpec gated;
      gated.gate = linear(in, kInner);
      gated.activation = activation;
      add.residual = x;
      x = linear(linear(in, kInner, gated), kHidden, add);
    }
    return finish(build_.row("final", x, norm(kind)));
  }

  convert::Graph post_norm(const AttentionSpec& spec) {
    int32_t x = build_.embed("embeddings", {{words_, fb::IndexSource::ids}}, norm());
    for (uint32_t i = 0; i < kLayers; ++i) {
      build_.enter(fb::Part::attention, static_cast<int32_t>(i));
      EpilogueSpec after = norm();
      after.residual = x;
      x = linear(attend(x, convert::kAbsent, spec), kHidden, after, true);
      build_.enter(fb::Part::feed_forward, static_cast<int32_t>(i));
      EpilogueSpec gelu;
      gelu.activation = fb::ActivationKind::gelu;
      after = norm();
      after.residual = x;
      x = linear(linear(x, kInner, gelu, true), kHidden, after, true);
    }
    return finish(x);
  }

  /// A layer over each token's row and its neighbors' rows.
  convert::Graph convolved(uint32_t before, uint32_t after) {
    const int32_t x = build_.embed("embeddings", {{words_, fb::IndexSource::ids}}, norm());
    EpilogueSpec added = norm();
    added.activation = fb::ActivationKind::gelu;
    added.residual = x;
    return finish(linear(build_.unfold("tokens", x, before, after), kHidden, added, true));
  }

  convert::Graph finish(int32_t hidden) {
    build_.output("last_hidden_state", fb::OutputRole::none, hidden);
    graph_.model.max_sequence = kPlaces;
    return std::move(graph_);
  }

  Builder& build() { return build_; }

 private:
  std::string name(const char* what) { return what + std::to_string(++number_); }

  std::mt19937 random_;
  convert::Graph graph_;
  Builder build_;
  int32_t words_ = convert::kAbsent;
  uint32_t number_ = 0;
};

/// Compares texts of one token, of a few, around the size of a page, and of the largest length.
void compare(const convert::Graph& graph, const std::string& what) {
  for (const fb::DType weights : {fb::DType::f32, fb::DType::i8}) {
    convert::TypeOptions types;
    types.weights = weights;
    const convert::FileBytes file = convert::build(convert::clone(graph), types);
    convert::Runner runner(file, kPlaces);
    double both = 0, wanted = 0, got = 0;
    for (const uint32_t length : {1U, 2U, 7U, 16U, 17U, 50U, kPlaces}) {
      convert::Sample sample;
      for (uint32_t i = 0; i < length; ++i) {
        sample.ids.push_back(static_cast<int32_t>((i * i * 31 + 7 * length) % kVocabulary));
        if (graph.model.inputs.size() > 1) sample.segments.push_back(i + 1 == length ? 2 : i < length / 3 ? 0 : 1);
      }
      const Matrix expected = evaluate(graph, sample.ids, sample.segments).at("last_hidden_state");
      const auto outputs = runner.run(sample);
      ASSERT_EQ(outputs.front().values.size(), expected.values.size());
      for (size_t i = 0; i < expected.values.size(); ++i) {
        const double a = expected.values[i];
        const auto b = static_cast<double>(outputs.front().values[i]);
        const double error = weights == fb::DType::f32 ? 1e-5 * (1 + std::abs(a)) : 2;
        ASSERT_NEAR(a, b, error) << what << ", " << length << " tokens";
        both += a * b, wanted += a * a, got += b * b;
      }
    }
    EXPECT_GE(both / std::sqrt(wanted * got), 0.995) << what;
  }
}

TEST(Places, RotaryWindowsAndGatesInFrontOfNorms) {
  for (const fb::NormKind kind : {fb::NormKind::layer, fb::NormKind::rms}) {
    Stack stack(3);
    const int32_t global = stack.build().table("global", kPlaces, kHeadWidth,
                                               Stack::made(convert::rotary_angles(kPlaces, kHeadWidth, {160000})));
    const int32_t local = stack.build().table("local", kPlaces, kHeadWidth,
                                              Stack::made(convert::rotary_angles(kPlaces, kHeadWidth, {10000})));
    const int32_t part =
        stack.build().table("part", kPlaces, 6, Stack::made(convert::rotary_angles(kPlaces, 6, {10000})));
    AttentionSpec window;
    window.mask = fb::MaskKind::window;
    window.window = 9;
    const bool rms = kind == fb::NormKind::rms;
    compare(stack.pre_norm({global, rms ? part : local, local}, {{}, window, window},
                           rms ? fb::ActivationKind::silu : fb::ActivationKind::gelu, kind),
            rms ? "SwiGLU" : "GeGLU");
  }
}

TEST(Places, BucketsBehindNorms) {
  Stack stack(5);
  AttentionSpec spec;
  const Values table = stack.values(size_t{12} * kHeads, 1.0F);
  spec.distance_bias = stack.build().table("biases", kHeads, 2 * 40 + 1,
                                           Stack::made(convert::bucket_biases(table.values, kHeads, 12, 40)));
  compare(stack.post_norm(spec), "buckets");
}

TEST(Places, SlopesBehindNorms) {
  Stack stack(6);
  AttentionSpec spec;
  spec.slopes = stack.build().vector("slopes", Stack::made(convert::alibi_slopes(kHeads)));
  compare(stack.post_norm(spec), "slopes");
}

/// XLNet's three terms: products of queries with distances, biases by distance, segments.
TEST(Places, DistancesAndSegmentsBehindNorms) {
  Stack stack(8);
  AttentionSpec spec;
  std::vector<float> rows;
  for (uint32_t i = 0; i < 2 * 20 + 1; ++i) rows.push_back(static_cast<float>(i));
  stack.build().input("token_type_ids", fb::InputKind::segments, 3);
  spec.place_rows = stack.build().vector("rows", Stack::made(rows));
  spec.place_keys = stack.build().places("keys", kHeads * 48, kHeadWidth, stack.values(kHeads * 48 * kHeadWidth, 0.1F));
  spec.distance_bias = stack.build().table("biases", kHeads, 41, stack.values(kHeads * 41, 0.3F));
  spec.segment_keys =
      stack.build().table("segments", kHeads, kHeadWidth + 1, stack.values(kHeads * (kHeadWidth + 1), 0.2F));
  compare(stack.post_norm(spec), "distances and segments");
  Stack alone(9);
  AttentionSpec segments;
  alone.build().input("token_type_ids", fb::InputKind::segments, 3);
  segments.segment_keys =
      alone.build().table("segments", kHeads, kHeadWidth + 1, alone.values(kHeads * (kHeadWidth + 1), 0.3F));
  compare(alone.post_norm(segments), "segments alone");
}

/// One constant is shared by queries and keys of all heads.
TEST(Places, VectorsOfDistancesThatHeadsShare) {
  Stack stack(10);
  AttentionSpec spec;
  std::vector<float> rows;
  for (uint32_t i = 0; i < 2 * 30 + 1; ++i) rows.push_back(static_cast<float>(i));
  spec.place_rows = stack.build().vector("rows", Stack::made(rows));
  spec.place_keys = spec.place_queries =
      stack.build().places("vectors", 64, kHeadWidth, stack.values(64 * kHeadWidth, 0.2F));
  spec.shared_places = true;
  compare(stack.post_norm(spec), "vectors of distances");
}

TEST(Places, ConvolutionsOverTokens) {
  for (const uint32_t before : {0U, 1U, 3U}) {
    Stack stack(11);
    compare(stack.convolved(before, 2), "convolutions");
  }
}

/// Rotating neighboring elements gives the same scores as rotating halves after reordering the rows.
TEST(Places, NeighboursAsHalves) {
  constexpr uint32_t kWidth = 6, kHead = 8;
  std::vector<float> q(kHead), k(kHead);
  for (uint32_t i = 0; i < kHead; ++i)
    q[i] = 0.3F * static_cast<float>(i) - 1, k[i] = 1.1F - 0.2F * static_cast<float>(i * i % 7);
  const std::vector<float> angles = convert::rotary_angles(5, kWidth, {100, {}, {}});
  const auto turned = [&](const std::vector<float>& x, uint32_t place, uint32_t step, uint32_t apart) {
    std::vector<float> y = x;
    for (uint32_t i = 0; i < kWidth / 2; ++i) {
      const float c = angles[place * kWidth + i], s = angles[place * kWidth + kWidth / 2 + i];
      y[i * step] = x[i * step] * c - x[i * step + apart] * s;
      y[i * step + apart] = x[i * step + apart] * c + x[i * step] * s;
    }
    return y;
  };
  const auto dot = [](const std::vector<float>& a, const std::vector<float>& b) {
    float sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  const float neighbours = dot(turned(q, 4, 2, 1), turned(k, 1, 2, 1));
  convert::halves_of_neighbours(q, 1, 1, kWidth);
  convert::halves_of_neighbours(k, 1, 1, kWidth);
  EXPECT_NEAR(dot(turned(q, 4, 1, kWidth / 2), turned(k, 1, 1, kWidth / 2)), neighbours, 1e-6);
  EXPECT_EQ(q[kHead - 1], 0.3F * 7 - 1);
}

/// transformers' _relative_position_bucket(relative_position=..., num_buckets=32, max_distance=128).
TEST(Places, BucketsAreThoseOfTransformers) {
  const std::pair<int32_t, uint32_t> cases[] = {{0, 0},    {-1, 1},   {-7, 7},   {-8, 8},    {-11, 8},  {-12, 9},
                                                {-15, 9},  {-16, 10}, {-22, 10}, {-23, 11},  {-31, 11}, {-32, 12},
                                                {-64, 14}, {-90, 14}, {-91, 15}, {-500, 15}, {1, 17},   {7, 23},
                                                {8, 24},   {16, 26},  {32, 28},  {64, 30},   {127, 31}, {9000, 31}};
  for (const auto& [distance, bucket] : cases) {
    EXPECT_EQ(convert::distance_bucket(distance, 32, 128), bucket) << distance;
  }
}

/// transformers' XLNetModel.positional_embedding of six columns.
TEST(Places, SinusoidsAreThoseOfTransformers) {
  const std::vector<float> rows = convert::sinusoids(8, 6);
  const std::vector<float> none(rows.begin(), rows.begin() + 6), wanted = {0, 0, 0, 1, 1, 1};
  EXPECT_EQ(none, wanted);
  const float seven[] = {0.65698659F, 0.31922463F, 0.015080469F, 0.75390226F, 0.9476791F, 0.99988627F};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(rows[42 + i], seven[i], 1e-7F) << i;
}

TEST(Places, SlopesArePowersOfTwo) {
  const std::vector<float> four = {0.25F, 0.0625F, 0.015625F, 0.00390625F};
  EXPECT_EQ(convert::alibi_slopes(4), four);
  const std::vector<float> six = convert::alibi_slopes(6);
  EXPECT_EQ(std::vector<float>(six.begin(), six.begin() + 4), four);
  EXPECT_EQ(six[4], 0.5F);
  EXPECT_EQ(six[5], 0.125F);
}

}  // namespace
}  // namespace bantam::golden::places_test
