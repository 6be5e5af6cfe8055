// hostile_test.cpp for linear layers in integers: the verdicts of their rule alone.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_static_linear_test {
namespace {

constexpr uint32_t kInputs = 8, kOutputs = 5;

/// The layer's output: f32 rows, i8 rows with a norm, or i8 rows that may have a table.
enum class Leaves { kF32, kNormed, kI8 };

ModelBuilder layer_model(Leaves leaves) {
  ModelBuilder b;
  const auto fixed = [&b](int32_t index) {
    b.model.tensors[static_cast<size_t>(index)]->scale_kind = fb::ScaleKind::fixed;
    return index;
  };
  const auto numbers = [&b](const char* name, uint32_t count, fb::DType type) {
    const int32_t index = b.vector(name, std::vector<float>(count));
    b.model.tensors[static_cast<size_t>(index)]->type = type;
    return index;
  };
  b.step(0);
  const int32_t x = fixed(b.activation("x", 0, kInputs, fb::DType::i8));
  const std::vector<float> zeros(kInputs * kOutputs);
  const int32_t weights = fixed(b.weights("weights", kOutputs, kInputs, zeros, WeightType::kI8));
  const bool f32 = leaves == Leaves::kF32;
  const int32_t y = f32 ? b.activation("y", 0, kOutputs) : fixed(b.activation("y", 0, kOutputs, fb::DType::i8));
  fb::OpT& op = b.op("layer", attributes(fb::LinearT()), {x, weights, -1}, {y});
  op.numerics = fb::Numerics::static_int;
  op.integer = std::make_unique<fb::IntegerT>();
  op.inputs.push_back(numbers("multipliers", kOutputs, f32 ? fb::DType::f32 : fb::DType::i16));
  op.integer->multiplier = 3;
  op.inputs.push_back(numbers("table", 256, fb::DType::i8));
  if (leaves == Leaves::kNormed) {
    op.epilogue = std::make_unique<fb::EpilogueT>();
    op.epilogue->norm = fb::NormKind::layer;
    op.inputs.push_back(numbers("gamma", kOutputs, fb::DType::i16));
    op.epilogue->gamma = 5;
    op.inputs.push_back(numbers("beta", kOutputs, fb::DType::i32));
    op.epilogue->beta = 6;
  }
  return b;
}

fb::OpT& op_of(fb::ModelT& m) { return *m.subgraphs[0]->ops[0]; }
fb::TensorT& read(fb::ModelT& m, size_t i) { return *m.tensors[static_cast<size_t>(op_of(m).inputs[i])]; }
fb::Dim extent(uint32_t n) { return {-1, 0, static_cast<int32_t>(n), 1}; }
void name_table(fb::ModelT& m) { op_of(m).integer->table = 4; }

TEST(HostileStatic, LayersAreNotTooLarge) {
  expect_rules_of_op("layer",
                     {{"an int8 layer has more than 131,071 inputs", Status::kUnsupported,
                       [](auto& m) { read(m, 0).shape[1] = read(m, 1).shape[1] = extent(131072); }},
                      {"a layer has too many outputs", Status::kUnsupported,
                       [](auto& m) { read(m, 1).shape[0] = extent(ops::kMaxWidth + 1); }}},
                     [] { return layer_model(Leaves::kI8); });
}

TEST(HostileStatic, TablesStandBeforeRowsOfI8) {
  for (const Leaves leaves : {Leaves::kF32, Leaves::kNormed}) {
    expect_rules_of_op("layer", {{"a table stands before i8 outputs only", Status::kCorrupt, name_table}},
                       [leaves] { return layer_model(leaves); });
  }
  ModelBuilder plain = layer_model(Leaves::kI8);
  name_table(plain.model);
  EXPECT_STREQ(verdict_of_op(plain.model, "layer").what(), "");
}

}  // namespace
}  // namespace bantam::testing::hostile_static_linear_test
