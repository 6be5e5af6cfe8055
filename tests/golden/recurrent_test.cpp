// Recurrent layers: graphs of every cell, direction and width against evaluate's definition; the same bits for every
// instruction set, tile and batch.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "golden/evaluate.h"
#include "golden/same_bits.h"
#include "graph/builder.h"
#include "pack/build.h"
#include "run/runner.h"
#include "tests/session/run_helpers.h"

namespace bantam::golden::recurrent_test {
namespace {

using convert::Builder;
using convert::kAbsent;
using convert::RecurrentState;
using convert::RecurrentWeights;
using convert::Values;

constexpr uint32_t kVocabulary = 70, kEmbedding = 20, kLongest = 45;

struct Layer {
  fb::Cell cell;
  fb::Direction direction;
  uint32_t cells, state;  // if state < cells, there is a projection
  bool first, last;
  bool members = false;
  int32_t after = -1;
};

constexpr Layer kLayers[] = {
    {fb::Cell::lstm, fb::Direction::forward, 16, 16, false, false},
    {fb::Cell::lstm, fb::Direction::reverse, 7, 7, false, true},
    {fb::Cell::lstm, fb::Direction::both, 33, 33, true, true},
    {fb::Cell::lstm, fb::Direction::both, 21, 9, true, true},
    {fb::Cell::lstm, fb::Direction::forward, 1, 1, false, false},
    {fb::Cell::gru, fb::Direction::forward, 16, 16, true, false},
    {fb::Cell::gru, fb::Direction::reverse, 30, 30, false, true},
    {fb::Cell::gru, fb::Direction::both, 13, 13, true, true},
    {fb::Cell::lstm, fb::Direction::both, 18, 18, true, true, true},
    {fb::Cell::gru, fb::Direction::reverse, 5, 5, false, true, true, 3},
    {fb::Cell::lstm, fb::Direction::forward, 16, 16, false, true, false, 3},
    {fb::Cell::ssru, fb::Direction::forward, 16, 16, false, false},
    {fb::Cell::ssru, fb::Direction::forward, 21, 21, false, false},
};

std::string name_of(const Layer& layer) {
  return std::string(fb::EnumNameCell(layer.cell)) + ", " + fb::EnumNameDirection(layer.direction) + ", " +
         std::to_string(layer.cells) + " cells, state " + std::to_string(layer.state) +
         (layer.members ? ", members" : "") + (layer.after < 0 ? "" : ", behind a token");
}

class Maker {
 public:
  explicit Maker(const Layer& layer) : layer_(layer), random_(layer.cells * 7 + layer.state), build_(graph_) {}

  /// A layer after embeddings, and linear layers that read its rows and its last state. The first state is computed by
  /// a layer from the mean of the text's rows.
  convert::Graph make() {
    build_.input("input_ids", fb::InputKind::ids, kVocabulary);
    const int32_t words =
        build_.embedding("words", kVocabulary, kEmbedding, values(size_t{kVocabulary} * kEmbedding, 1.0F));
    const int32_t x = build_.embed("embeddings", {{words, fb::IndexSource::ids}}, {});
    const bool lstm = layer_.cell == fb::Cell::lstm, both = layer_.direction == fb::Direction::both;
    const bool ssru = layer_.cell == fb::Cell::ssru;
    const uint32_t directions = both ? 2 : 1, block = (layer_.cells + 15) / 16 * 16;
    const uint32_t gates = (lstm ? 4 : ssru ? 2 : 3) * block;
    std::vector<RecurrentWeights> weights;
    for (uint32_t d = 0; d < directions && !ssru; ++d) {
      RecurrentWeights own;
      own.weights = matrix(gates, layer_.state);
      own.bias = d == 0 || !both ? build_.vector(name(), values(gates, 0.3F)) : kAbsent;
      if (layer_.state < layer_.cells) own.projection = matrix(layer_.state, layer_.cells);
      weights.push_back(own);
    }
    RecurrentState first, last;
    if (layer_.first) {
      const int32_t mean = build_.pool("mean", x, fb::PoolKind::mean, false);
      first.state = linear(mean, directions * layer_.state);
      if (lstm) first.cells = linear(mean, directions * layer_.cells);
    }
    const int32_t given = linear(x, directions * gates);
    const int32_t y =
        ssru ? build_.ssru("layer", given, layer_.state)
             : build_.recurrent("layer", layer_.cell, given, weights, layer_.direction == fb::Direction::reverse, first,
                                layer_.last ? &last : nullptr, layer_.members ? members() : kAbsent, layer_.after);
    build_.output("rows", fb::OutputRole::none, y);
    build_.output("above", fb::OutputRole::none, linear(y, 17));
    if (layer_.last) build_.output("state", fb::OutputRole::none, last.state);
    if (layer_.last) build_.output("above_state", fb::OutputRole::none, linear(last.state, 18));
    if (last.cells >= 0) build_.output("cells", fb::OutputRole::none, last.cells);
    graph_.model.max_sequence = kLongest;
    return convert::clone(graph_);
  }

 private:
  std::string name() { return "constant" + std::to_string(names_++); }
  Values values(size_t count, float deviation) {
    std::normal_distribution<float> normal(0, deviation);
    Values out;
    for (size_t i = 0; i < count; ++i) out.values.push_back(normal(random_));
    return out;
  }
  int32_t members() {
    fb::TensorT tensor;
    tensor.name = "members";
    tensor.type = fb::DType::i32;
    tensor.shape = {fb::Dim(-1, 0, (kVocabulary + 31) / 32, 1)};
    auto constant = std::make_shared<convert::Constant>();
    for (uint32_t i = 0; i < (kVocabulary + 31) / 32; ++i) constant->numbers.push_back(static_cast<int32_t>(random_()));
    const int32_t index = convert::add_tensor(graph_, std::move(tensor));
    graph_.constants[static_cast<size_t>(index)] = std::move(constant);
    return index;
  }
  int32_t matrix(uint32_t rows, uint32_t columns) {
    const float deviation = 1.0F / std::sqrt(static_cast<float>(columns));
    return build_.linear_weight(name(), rows, columns, values(size_t{rows} * columns, deviation));
  }
  int32_t linear(int32_t x, uint32_t rows) {
    return build_.linear(name(), x, matrix(rows, build_.width(x)), kAbsent, {});
  }

  Layer layer_;
  std::mt19937 random_;
  convert::Graph graph_;
  Builder build_;
  uint32_t names_ = 0;
};

convert::FileBytes file_of(const convert::Graph& graph, fb::DType type) {
  convert::TypeOptions types;
  types.weights = type;
  types.small_matrix = 0;
  return convert::build(convert::clone(graph), types);
}

double cosine(const std::vector<float>& a, const std::vector<double>& b) {
  double product = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += double{a[i]} * b[i];
    aa += double{a[i]} * double{a[i]};
    bb += b[i] * b[i];
  }
  return bb == 0 ? (aa == 0 ? 1 : 0) : product / std::sqrt(aa * bb);
}

TEST(Recurrent, RowsAreThoseOfTheDefinition) {
  std::mt19937 random(3);
  for (const Layer& layer : kLayers) {
    SCOPED_TRACE(name_of(layer));
    const convert::Graph graph = Maker(layer).make();
    const convert::FileBytes f32 = file_of(graph, fb::DType::f32), f16 = file_of(graph, fb::DType::f16),
                             i8 = file_of(graph, fb::DType::i8), i4 = file_of(graph, fb::DType::i4);
    convert::Runner exact(f32, kLongest), half(f16, kLongest), bytes(i8, kLongest), nibbles(i4, kLongest);
    for (const uint32_t length : {1U, 2U, 17U, kLongest}) {
      convert::Sample sample;
      for (uint32_t i = 0; i < length; ++i) sample.ids.push_back(static_cast<int32_t>(random() % kVocabulary));
      if (length > 9) sample.ids[5] = sample.ids[8] = 3;
      const auto expected = evaluate(graph, sample.ids, {});
      const auto a = exact.run(sample), b = half.run(sample), c = bytes.run(sample), d = nibbles.run(sample);
      ASSERT_EQ(a.size(), expected.size());
      for (size_t o = 0; o < a.size(); ++o) {
        const std::vector<double>& want = expected.at(a[o].name).values;
        ASSERT_EQ(a[o].values.size(), want.size());
        for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(double{a[o].values[i]}, want[i], 1e-5) << a[o].name;
        if (want.size() < 8) continue;
        EXPECT_GE(cosine(b[o].values, want), 0.9999) << a[o].name;
        EXPECT_GE(cosine(c[o].values, want), 0.995) << a[o].name;
        EXPECT_GE(cosine(d[o].values, want), 0.9) << a[o].name;
      }
    }
  }
}

TEST(Recurrent, SameBitsEverywhereAndInAnyCompany) {
  std::vector<uint32_t> lengths;
  for (uint32_t i = 0; i < 37; ++i) lengths.push_back(1 + i * 7 % 19);
  const testing::Ids all = testing::random_ids(lengths, kVocabulary, 1, 5);
  for (const Layer& layer : kLayers) {
    const convert::Graph graph = Maker(layer).make();
    for (const fb::DType type : {fb::DType::f32, fb::DType::i8, fb::DType::i4}) {
      SCOPED_TRACE(name_of(layer) + ", " + fb::EnumNameDType(type));
      expect_same_bits(file_of(graph, type), all);
    }
  }
}

}  // namespace
}  // namespace bantam::golden::recurrent_test
