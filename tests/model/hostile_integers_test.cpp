// hostile_test.cpp for static quantization: integers from embeddings to scores.
#include <gtest/gtest.h>

#include <vector>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_integers_test {
namespace {

constexpr uint32_t kIds = 9, kLabels = 4;
constexpr uint32_t kMostColumns = 32768;  // limit of an integer norm

/// Embeddings of `columns` numbers with a norm, and a layer of scores.
ModelBuilder static_model(uint32_t columns) {
  ModelBuilder b;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const auto constant = [&](const char* name, fb::DType type, size_t bytes, std::vector<uint32_t> shape) {
    auto t = std::make_unique<fb::TensorT>();
    t->name = name;
    t->type = type;
    for (const uint32_t n : shape) t->shape.emplace_back(-1, 0, static_cast<int32_t>(n), 1);
    const std::vector<uint8_t> zeros(bytes);
    t->data = std::make_unique<fb::Blob>(b.store(zeros.data(), zeros.size()));
    b.model.tensors.push_back(std::move(t));
    return static_cast<int32_t>(b.model.tensors.size() - 1);
  };
  const size_t padded = (columns + 15) / 16 * 16;
  const int32_t words = constant("words", fb::DType::i8, size_t{kIds} * columns, {kIds, columns});
  const int32_t steps = constant("steps", fb::DType::i16, 32, {kIds});
  const int32_t gamma = constant("gamma", fb::DType::i16, padded * 2, {columns});
  const int32_t beta = constant("beta", fb::DType::i32, padded * 4, {columns});
  const int32_t weights = constant("weights", fb::DType::i8, 16 * padded, {kLabels, columns});
  b.model.tensors.back()->layout = fb::Layout::tile_k4n16;
  b.model.tensors.back()->scale_kind = fb::ScaleKind::fixed;
  b.model.tensors.back()->sums = std::make_unique<fb::Blob>(*b.model.tensors[static_cast<size_t>(beta)]->data);
  const int32_t factors = constant("factors", fb::DType::f32, 64, {kLabels});
  b.step(0);
  const int32_t x = b.activation("x", 0, columns, fb::DType::i8);
  b.model.tensors.back()->scale_kind = fb::ScaleKind::fixed;
  fb::EmbedT one;
  one.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& embed = b.op("embed", attributes(one), {}, {x});
  embed.numerics = fb::Numerics::static_int;
  embed.integer = std::make_unique<fb::IntegerT>();
  embed.attributes.AsEmbed()->tables[0]->tensor = name_input(embed, words);
  embed.attributes.AsEmbed()->tables[0]->multiplier = name_input(embed, steps);
  embed.epilogue = std::make_unique<fb::EpilogueT>();
  embed.epilogue->norm = fb::NormKind::layer;
  embed.epilogue->gamma = name_input(embed, gamma);
  embed.epilogue->beta = name_input(embed, beta);
  b.step(0);
  const int32_t y = b.output("y", 0, kLabels);
  fb::OpT& scores = b.op("scores", attributes(fb::LinearT{}), {x, weights, -1}, {y});
  scores.numerics = fb::Numerics::static_int;
  scores.integer = std::make_unique<fb::IntegerT>();
  scores.integer->multiplier = name_input(scores, factors);
  return b;
}

fb::OpT& embed(fb::ModelT& m) { return *m.subgraphs[0]->ops[0]; }
fb::OpT& scores(fb::ModelT& m) { return *m.subgraphs[0]->ops[1]; }
fb::TensorT& output(fb::ModelT& m) { return *m.tensors[static_cast<size_t>(scores(m).outputs[0])]; }

const char* const kMore = "a statically quantized op takes no activation, gate or smoothing, and stores once";

const OpEdit kEdits[] = {
    {"no integers",
     [](auto& m) {
       scores(m).integer.reset();
       scores(m).inputs.pop_back();
     },
     Status::kCorrupt, "an op has integers where it computes without them"},
    {"an activation", [](auto& m) { embed(m).epilogue->activation = fb::ActivationKind::relu; }, Status::kCorrupt,
     kMore},
    {"a gate", [](auto& m) { embed(m).epilogue->gate = name_input(embed(m), embed(m).outputs[0]); }, Status::kCorrupt,
     kMore},
    {"smoothing", [](auto& m) { embed(m).epilogue->smooth = name_input(embed(m), embed(m).inputs[2]); },
     Status::kCorrupt, kMore},
    {"rows stored twice", [](auto& m) { embed(m).epilogue->store_sum = true; }, Status::kCorrupt, kMore},
    {"scores in pages", [](auto& m) { as_pages(output(m)); }, Status::kCorrupt,
     "the output has the wrong layout or width"},
    {"scores of another width", [](auto& m) { output(m).shape[1] = fb::Dim(-1, 0, kLabels + 1, 1); }, Status::kCorrupt,
     "the output has the wrong layout or width"},
};

TEST(HostileIntegers, IsRefusedWithAReason) {
  expect_refused(kEdits, [] { return static_model(20); });
}

TEST(HostileIntegers, NormsOfTooManyNumbersAreRefused) {
  Fault fault;
  EXPECT_EQ(open(static_model(kMostColumns), &fault), Status::kOk) << fault.what;
  EXPECT_EQ(open(static_model(kMostColumns + 1), &fault), Status::kUnsupported);
  EXPECT_STREQ(fault.what, "an integer norm takes rows of up to 32,768 numbers");
}

}  // namespace
}  // namespace bantam::testing::hostile_integers_test
