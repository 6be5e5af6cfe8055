// A gated feed-forward part whose norm follows the sum to which the next part adds: Epilogue.gate and store_sum.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/every_isa.h"
#include "tests/session/run_helpers.h"

namespace bantam::testing {
namespace {

constexpr uint32_t kVocabulary = 50, kHidden = 40, kInner = 72, kLabels = 5;

using Matrix = std::vector<float>;

struct Weights {
  Matrix words, gate, up, down, gamma, beta, head;

  explicit Weights(uint32_t seed) {
    std::mt19937 random(seed);
    const auto fill = [&](size_t count, float spread, float centre = 0) {
      std::normal_distribution<float> normal(centre, spread);
      Matrix values(count);
      for (float& value : values) value = normal(random);
      return values;
    };
    words = fill(kVocabulary * kHidden, 1);
    gate = fill(kInner * kHidden, 0.2f);
    up = fill(kInner * kHidden, 0.2f);
    down = fill(kHidden * kInner, 0.2f);
    gamma = fill(kHidden, 0.2f, 1);
    beta = fill(kHidden, 0.2f);
    head = fill(kLabels * kHidden, 0.2f);
  }
};

/// outputs: "sum" [tokens, kHidden] before the norm, "scores" [tokens, kLabels] of the rows after the norm.
FileBytes gated_file(const Weights& w) {
  ModelBuilder b;
  b.model.max_sequence = 64;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kVocabulary;
  const int32_t x = b.activation("x", 0, kHidden);
  const int32_t gate = b.activation("gate", 2, kInner);
  const int32_t inner = b.activation("inner", 2, kInner);
  const int32_t normed = b.activation("normed", 2, kHidden, fb::DType::i8);
  const int32_t sum = b.output("sum", 0, kHidden);
  const int32_t scores = b.output("scores", 0, kLabels);
  b.step(0);
  fb::OpT& embed = b.op("embed", attributes(fb::EmbedT{}), {}, {x});
  auto table = std::make_unique<fb::EmbedTableT>();
  table->tensor = name_input(embed, b.table("words", kVocabulary, kHidden, w.words, WeightType::kF32));
  embed.attributes.AsEmbed()->tables.push_back(std::move(table));
  b.op("gate", attributes(fb::LinearT{}), {x, b.weights("gate", kInner, kHidden, w.gate, WeightType::kF32)}, {gate});
  fb::OpT& up =
      b.op("up", attributes(fb::LinearT{}), {x, b.weights("up", kInner, kHidden, w.up, WeightType::kF32)}, {inner});
  up.epilogue = std::make_unique<fb::EpilogueT>();
  up.epilogue->activation = fb::ActivationKind::silu;
  up.epilogue->gate = name_input(up, gate);
  fb::OpT& down = b.op("down", attributes(fb::LinearT{}),
                       {inner, b.weights("down", kHidden, kInner, w.down, WeightType::kF32)}, {x, normed});
  down.epilogue = std::make_unique<fb::EpilogueT>();
  down.epilogue->residual = name_input(down, x);
  down.epilogue->norm = fb::NormKind::layer;
  down.epilogue->gamma = name_input(down, b.vector("gamma", w.gamma));
  down.epilogue->beta = name_input(down, b.vector("beta", w.beta));
  down.epilogue->store_sum = true;
  b.op("head", attributes(fb::LinearT{}), {normed, b.weights("head", kLabels, kHidden, w.head, WeightType::kI8)},
       {scores});
  b.op("store", attributes(fb::RowT{}), {x}, {sum});
  return FileBytes(b.finish());
}

double dot(const float* a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < b.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

/// The same by the formulas.
void expected_row(const Weights& w, int32_t id, std::vector<double>* sum, std::vector<double>* scores) {
  const float* word = &w.words[static_cast<size_t>(id) * kHidden];
  const std::vector<double> x(word, word + kHidden);
  std::vector<double> inner(kInner);
  for (uint32_t n = 0; n < kInner; ++n) {
    const double value = dot(&w.up[n * kHidden], x);
    inner[n] = value / (1 + std::exp(-value)) * dot(&w.gate[n * kHidden], x);
  }
  double mean = 0, square = 0;
  for (uint32_t n = 0; n < kHidden; ++n) {
    sum->push_back(x[n] + dot(&w.down[n * kInner], inner));
    mean += sum->back() / kHidden;
  }
  for (const double value : *sum) square += (value - mean) * (value - mean) / kHidden;
  std::vector<double> normed(kHidden);
  for (uint32_t n = 0; n < kHidden; ++n) {
    normed[n] = ((*sum)[n] - mean) / std::sqrt(square + 1e-12) * double{w.gamma[n]} + double{w.beta[n]};
  }
  for (uint32_t n = 0; n < kLabels; ++n) scores->push_back(dot(&w.head[n * kHidden], normed));
}

TEST(Epilogue, GatesAndKeepsTheSumBeforeTheNorm) {
  const Weights weights(7);
  const FileBytes file = gated_file(weights);
  const Ids ids = random_ids({9, 1, 23}, kVocabulary, 1, 3);
  SessionOptions options;
  options.isa = Isa::kReference;
  const std::vector<float> reference = run_once(file, ids, options);
  const size_t rows = ids.ids.size();
  for (size_t r = 0; r < rows; ++r) {
    std::vector<double> sum, scores;
    expected_row(weights, ids.ids[r], &sum, &scores);
    for (uint32_t i = 0; i < kHidden; ++i) ASSERT_NEAR(double{reference[r * kHidden + i]}, sum[i], 1e-4);
    // int8 rows times int8 weights: about 1 % of 40 products of 0.2.
    for (uint32_t i = 0; i < kLabels; ++i) {
      ASSERT_NEAR(double{reference[rows * kHidden + r * kLabels + i]}, scores[i], 0.06);
    }
  }
  for (const Isa isa : every_isa()) {
    if (!isa_available(isa)) continue;
    options.isa = isa;
    for (const uint32_t block_rows : {0u, 1u, 5u}) {
      options.block_rows = block_rows;
      EXPECT_EQ(run_once(file, ids, options), reference) << isa_name(isa) << ", blocks of " << block_rows;
    }
  }
}

}  // namespace
}  // namespace bantam::testing
