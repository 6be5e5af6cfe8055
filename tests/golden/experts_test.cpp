// Layers of experts beyond golden models and same_bits_test.cpp: which experts tokens are routed to, capacities, and
// decoders that continue token by token as transformers does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "bantam/sampling.h"
#include "base/json_file.h"
#include "golden/decoder.h"
#include "graph/access.h"
#include "pack/lower.h"
#include "quantize/round.h"
#include "quantize/types.h"
#include "tests/session/model_builder.h"
#include "tests/session/run_helpers.h"

namespace bantam::golden::experts_test {
namespace {

using testing::ModelBuilder;
using testing::WeightType;

/// Experts that multiply the single number of a row: expert e by e + 1. The scores come from a table with one row per
/// id.
struct Chooser {
  std::vector<float> scores;  // [ids][experts]
  uint32_t experts, top;
  bool normalized = false;
  uint32_t capacity = 0;
  fb::ShareKind shares = fb::ShareKind::softmax;
  std::vector<float> bias = {};
  bool by_scores = false;
  float threshold = 0;
  std::vector<float> up_bias = {}, down_bias = {};  // [experts]
  float limit = 0;
  bool scales_inputs = false;

  testing::FileBytes file(WeightType type) const {
    ModelBuilder b;
    const auto ids = static_cast<uint32_t>(scores.size() / experts);
    b.model.inputs.push_back(std::make_unique<fb::InputT>());
    b.model.inputs[0]->name = "input_ids";
    b.model.inputs[0]->limit = ids;
    const auto embed = [&](const char* name, uint32_t width, const std::vector<float>& rows, int32_t y) {
      const int32_t table = b.table(name, ids, width, rows, WeightType::kF32);
      fb::EmbedT one;
      one.tables.push_back(std::make_unique<fb::EmbedTableT>());
      fb::OpT& op = b.op(name, testing::attributes(one), {}, {y});
      op.attributes.AsEmbed()->tables[0]->tensor = testing::name_input(op, table);
    };
    b.step(0);
    const int32_t x = b.activation("x", 0, 1), s = b.activation("s", 0, experts);
    embed("rows", 1, std::vector<float>(ids, 1.0F), x);
    embed("scores", experts, scores, s);
    b.step(0);
    std::vector<float> up(size_t{experts} * 16), down(size_t{experts} * 16);
    for (uint32_t e = 0; e < experts; ++e) {
      up[e * 16] = 1;
      down[e * 16] = static_cast<float>(e + 1);
    }
    fb::ExpertsT layer;
    layer.experts = experts;
    layer.top = top;
    layer.outputs = 1;
    layer.normalized = normalized;
    layer.capacity = capacity;
    layer.shares = shares;
    layer.choice_by_scores = by_scores;
    layer.threshold = threshold;
    layer.limit = limit;
    layer.scales_inputs = scales_inputs;
    fb::OpT& op = b.op("experts", testing::attributes(layer),
                       {x, s, b.weights("up", experts * 16, 1, up, type),
                        b.weights("down", experts * 16, 1, down, type), capacity == 0 ? -1 : s},
                       {b.output("y", 0, 1)});
    const auto name = [&](int8_t* position, const char* vector, const std::vector<float>& values) {
      if (!values.empty()) *position = testing::name_input(op, b.vector(vector, values));
    };
    const auto each = [](const std::vector<float>& values) {  // the first of each expert's 16 rows
      std::vector<float> rows(values.size() * 16);
      for (size_t e = 0; e < values.size(); ++e) rows[e * 16] = values[e];
      return rows;
    };
    fb::ExpertsT& added = *op.attributes.AsExperts();
    name(&added.choice_bias, "bias", bias);
    name(&added.up_bias, "up_bias", each(up_bias));
    name(&added.down_bias, "down_bias", each(down_bias));
    return testing::FileBytes(b.finish());
  }

  /// Returns the output of each token in a session with the workers, tiles and blocks of `options`.
  std::vector<float> run(const std::vector<std::vector<int32_t>>& texts, WeightType type,
                         SessionOptions options = {}) const {
    const testing::FileBytes bytes = file(type);
    Model model;
    EXPECT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
    const Sequences all(texts);
    options.max_tokens = static_cast<uint32_t>(all.ids.size());
    options.max_sequences = static_cast<uint32_t>(texts.size());
    testing::Arena arena(arena_bytes(model, options));
    Session* session = nullptr;
    EXPECT_EQ(Session::create(model, options, arena.data(), arena.size(), &session), Status::kOk);
    EXPECT_EQ(session->run(all.batch()), Status::kOk);
    OutputView view;
    EXPECT_EQ(session->output(0, &view), Status::kOk);
    return testing::values(view);
  }
};

void expect_near(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-5F * (1 + std::abs(expected[i]))) << i;
}

TEST(Experts, OfEqualScoresTheFormerAreTaken) {
  const Chooser one{{1, 1, 1, /**/ 0, 2, 2, /**/ 3, 0, 3}, 3, 1};
  const Chooser two{one.scores, 3, 2, true};
  for (const WeightType type : {WeightType::kF32, WeightType::kF16, WeightType::kI8}) {
    const float e2 = std::exp(-2.0F), e3 = std::exp(-3.0F);
    expect_near(one.run({{0, 1, 2}}, type), {1.0F / 3, 2 / (2 + e2), 1 / (2 + e3)});
    expect_near(two.run({{0, 1, 2}}, type), {1.5F, 2.5F, 2.0F});
  }
}

/// Shares are sigmoids. A bias is added to shares or scores for the choice of experts; the shares do not include it.
TEST(Experts, AreChosenByABiasToo) {
  const auto sigmoid = [](float score) { return 1 / (1 + std::exp(-score)); };
  Chooser chooser{{2, 1, 8, /**/ 0, -9, 9}, 3, 1};
  chooser.shares = fb::ShareKind::sigmoid;
  for (const WeightType type : {WeightType::kF32, WeightType::kI8}) {
    chooser.bias = {};
    expect_near(chooser.run({{0, 1}}, type), {3 * sigmoid(8), 3 * sigmoid(9)});
    // Expert 0 wins: 1.38 against 0.99967 in the first row, 1 against 0.9999 in the second.
    chooser.bias = {0.5F, 0, 0};
    chooser.by_scores = false;
    expect_near(chooser.run({{0, 1}}, type), {sigmoid(2), sigmoid(0)});
    chooser.by_scores = true;  // expert 0 loses: 2.5 against 8
    expect_near(chooser.run({{0, 1}}, type), {3 * sigmoid(8), 3 * sigmoid(9)});
    chooser.bias = {0, 7.5F, 0};
    expect_near(chooser.run({{0, 1}}, type), {2 * sigmoid(1), 3 * sigmoid(9)});
  }
  chooser.shares = fb::ShareKind::softmax;
  chooser.bias = {0, 0, -1};
  chooser.by_scores = false;
  const float all = 1 + std::exp(-1.0F) + std::exp(6.0F);
  expect_near(chooser.run({{0}}, WeightType::kF32), {1 / all});
}

/// Biases of both matrices; the second matrix's is part of an expert's output, which the share multiplies.
TEST(Experts, HaveBiasesAndBounds) {
  Chooser chooser{{1, 0, /**/ 0, 1}, 2, 2};
  chooser.up_bias = {3, -0.5F};
  chooser.down_bias = {0.25F, -8};
  const float p = 1 / (1 + std::exp(-1.0F)), q = 1 - p;
  for (const WeightType type : {WeightType::kF32, WeightType::kF16, WeightType::kI8}) {
    chooser.limit = 0;
    expect_near(chooser.run({{0, 1}}, type), {p * 4.25F + q * -7, q * 4.25F + p * -7});
    chooser.limit = 0.75F;
    expect_near(chooser.run({{0, 1}}, type), {p * 1 + q * -7, q * 1 + p * -7});
    // Shares of inputs: min(p + 3, 0.75) + 0.25, and 2 (q - 0.5) - 8.
    chooser.scales_inputs = true;
    expect_near(chooser.run({{0, 1}}, type), {1 + 2 * (q - 0.5F) - 8, 1 + 2 * (p - 0.5F) - 8});
    chooser.scales_inputs = false;
  }
}

/// Each share is a softmax over the remaining scores that are near the greatest of them.
TEST(Experts, SharesOfMaskedScoresLeaveFarOnesOut) {
  Chooser chooser{{4, 3.5F, 1, 3.4F}, 4, 2};
  chooser.shares = fb::ShareKind::masked;
  const float e1 = std::exp(-0.1F), e5 = std::exp(-0.5F), e6 = std::exp(-0.6F);
  chooser.threshold = 0.2F;
  expect_near(chooser.run({{0}}, WeightType::kF32), {1 / (1 + e5 + e6) + 2 / (1 + e1)});
  chooser.threshold = 0.13F;
  expect_near(chooser.run({{0}}, WeightType::kF32), {1 / (1 + e5) + 2 / (1 + e1)});
  chooser.threshold = 0;
  expect_near(chooser.run({{0}}, WeightType::kF32), {1 + 2});
  chooser.normalized = true;
  chooser.threshold = 0.2F;
  const float first = 1 / (1 + e5 + e6), second = 1 / (1 + e1);
  expect_near(chooser.run({{0}}, WeightType::kF32), {(first + 2 * second) / (first + second)});
  // The threshold is relative to a score's absolute value if the greatest score is negative.
  chooser.scores = {-1, -1.05F, -9, -1.5F};
  chooser.normalized = false;
  expect_near(chooser.run({{0}}, WeightType::kF32), {1 / (1 + std::exp(-0.05F)) + 2.0F});
}

/// Rows that all go to one expert, each to a different one, or to all experts.
TEST(Experts, WhereRowsGoTakesNoMemory) {
  const uint32_t experts = 40;
  std::vector<float> scores(size_t{experts} * experts, 0.0F);
  for (uint32_t i = 0; i < experts; ++i) scores[size_t{i} * experts + i] = 30;
  std::vector<int32_t> same(300, 7), each;
  for (int32_t i = 0; i < 300; ++i) each.push_back(i * 7 % 40);
  for (const uint32_t tile : {4U, 0U}) {
    SessionOptions options;
    options.tile_rows = tile;
    const Chooser one{scores, experts, 1}, all{scores, experts, experts, true};
    expect_near(one.run({same}, WeightType::kI8, options), std::vector<float>(300, 8.0F));
    std::vector<float> expected;
    for (const int32_t id : each) expected.push_back(static_cast<float>(id + 1));
    expect_near(one.run({each}, WeightType::kI8, options), expected);
    expect_near(all.run({each}, WeightType::kF32, options), expected);
  }
}

/// The first tokens of a text are accepted, whatever tiles and other texts there are.
TEST(Experts, WithACapacityTakeTheFirstTokensOfEachText) {
  const Chooser chooser{{50, 0, /**/ 0, 50}, 2, 1, false, 5};
  std::vector<std::vector<int32_t>> texts;
  std::vector<float> expected;
  for (const uint32_t length : {3U, 40U, 1U, 17U}) {
    std::vector<int32_t> text;
    uint32_t taken[2] = {0, 0};
    for (uint32_t i = 0; i < length; ++i) {
      const uint32_t id = i % 3 == 2 ? 1 : 0;
      text.push_back(static_cast<int32_t>(id));
      expected.push_back(++taken[id] <= 5 ? static_cast<float>(id + 1) : 0.0F);
    }
    texts.push_back(text);
  }
  const testing::Threads threads(3);
  for (const WeightType type : {WeightType::kF32, WeightType::kI8}) {
    for (const uint32_t tile : {0U, 4U, 12U}) {
      for (const uint32_t block : {0U, 1U}) {
        SessionOptions options;
        options.tile_rows = tile;
        options.block_rows = block;
        expect_near(chooser.run(texts, type, options), expected);
        options.workers = 3;
        options.parallel = threads.get();
        expect_near(chooser.run(texts, type, options), expected);
      }
    }
  }
}

/// Token by token as transformers' generate(): each token has the whole capacity.
TEST(Experts, ADecoderThatGoesOnHasRoomForEachToken) {
  std::ifstream lines(model_directory("switch-generate") / "steps.jsonl");
  size_t texts = 0;
  for (std::string line; std::getline(lines, line); ++texts) {
    const convert::Json expected = convert::Json::parse(line);
    const auto made = expected.at("ids").get<std::vector<int32_t>>();
    SessionOptions options;
    options.max_source = 24;
    options.max_tokens = options.max_context = static_cast<uint32_t>(made.size());
    options.f32_attention = true;
    Decoder decoder("switch-generate", fb::DType::f32, options);
    decoder.encode({expected.at("source").get<std::vector<int32_t>>()});
    for (size_t i = 0; i + 1 < made.size(); ++i) {
      decoder.run({{made[i]}}, {}, true);
      NextToken next;
      ASSERT_EQ(next_token(decoder.session(), 0, Sampling(), &next), Status::kOk);
      ASSERT_EQ(next.id, made[i + 1]) << line;
    }
  }
  EXPECT_GE(texts, 4U);
}

/// Weights are rounded by the inputs of the layer of experts; the inputs of its down projections are not observable.
TEST(Experts, FirstLayersAreRoundedByTheirInputs) {
  const convert::Graph graph = convert::import_hugging_face(model_directory("mixtral-generate"));
  convert::TypeOptions options;
  options.weights = fb::DType::i4;
  options.group = 8;
  convert::Graph typed = convert::clone(graph);
  convert::choose_types(typed, options);
  convert::quantize_activations(typed, fb::DType::f32);
  convert::InputMoments moments;
  std::mt19937 random(1);
  std::normal_distribution<float> draw;
  for (const std::string& name : convert::rounded_inputs(graph, options)) {
    if (name.find("post_attention_layernorm") == std::string::npos) continue;
    convert::Moments& own = moments[name];
    own.width = 24;
    own.products.resize(24 * 24);
    own.sums.resize(24);
    for (uint32_t i = 0; i < 100; ++i) {
      std::vector<float> row(24);
      for (float& x : row) x = draw(random) + row.front();
      own.add(row.data());
    }
  }
  EXPECT_EQ(moments.size(), 2U);
  convert::round_weights(typed, moments, [](double) {});
  size_t rounded = 0;
  for (size_t i = 0; i < typed.constants.size(); ++i) {
    if (!typed.constants[i] || typed.constants[i]->rounded == nullptr) continue;
    ++rounded;
    EXPECT_NE(typed.model.tensors[i]->name.find("experts.up.weight"), std::string::npos);
  }
  EXPECT_EQ(rounded, 2U);
}

/// Routers stay f32 in integer and f16 files, unless an option says otherwise.
TEST(Experts, RoutersKeepTheirType) {
  const convert::Graph graph = convert::import_hugging_face(model_directory("mixtral-generate"));
  for (const fb::DType type : {fb::DType::i8, fb::DType::i4, fb::DType::f16}) {
    for (const bool said : {false, true}) {
      convert::Graph typed = convert::clone(graph);
      convert::TypeOptions options;
      options.weights = type;
      if (said) options.keep.push_back({"block_sparse_moe.gate", fb::DType::i8});
      convert::choose_types(typed, options);
      size_t routers = 0, experts = 0;
      for (size_t i = 0; i < typed.constants.size(); ++i) {
        const fb::TensorT& t = *typed.model.tensors[i];
        if (!typed.constants[i]) continue;
        if (t.name.find("gate.weight") != std::string::npos) {
          ++routers;
          EXPECT_EQ(t.type, said ? fb::DType::i8 : fb::DType::f32);
        }
        if (t.name.find("experts.") != std::string::npos) {
          ++experts;
          EXPECT_EQ(t.type, type);
        }
      }
      EXPECT_EQ(routers, 2U);
      EXPECT_EQ(experts, 4U);
    }
  }
}

}  // namespace
}  // namespace bantam::golden::experts_test
