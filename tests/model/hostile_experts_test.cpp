// hostile_test.cpp for layers of experts.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_experts_test {
namespace {

constexpr uint32_t kIds = 9, kWidth = 5, kInner = 20, kOutputs = 7, kExperts = 3;
constexpr uint32_t kUp = 2 * 32, kDown = 16;  // rows per expert

/// Rows and scores from a step of their own, then experts.
ModelBuilder experts_model(uint32_t top, uint32_t capacity, WeightType type) {
  ModelBuilder b;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const auto embed = [&](const char* name, uint32_t width, int32_t y) {
    const int32_t words = b.table(name, kIds, width, std::vector<float>(kIds * width, 0.5F), WeightType::kF32);
    fb::EmbedT one;
    one.tables.push_back(std::make_unique<fb::EmbedTableT>());
    fb::OpT& op = b.op(name, attributes(one), {}, {y});
    op.attributes.AsEmbed()->tables[0]->tensor = name_input(op, words);
  };
  const auto matrix = [&](const char* name, uint32_t rows, uint32_t columns) {
    return b.weights(name, rows, columns, std::vector<float>(size_t{rows} * columns, 0.25F), type);
  };
  b.step(0);
  const int32_t x = b.activation("x", 0, kWidth), scores = b.activation("scores", 0, kExperts);
  embed("words", kWidth, x);
  embed("shares", kExperts, scores);
  b.step(0);
  fb::ExpertsT layer;
  layer.experts = kExperts;
  layer.top = top;
  layer.outputs = kOutputs;
  layer.activation = fb::ActivationKind::silu;
  layer.gated = true;
  layer.capacity = capacity;
  const int32_t up = matrix("up", kExperts * kUp, kWidth), down = matrix("down", kExperts * kDown, kInner);
  const int32_t y = b.output("y", 0, kOutputs);
  b.op("experts", attributes(layer), {x, scores, up, down, capacity == 0 ? -1 : scores}, {y});
  return b;
}

fb::OpT& op_of(fb::ModelT& m) { return *m.subgraphs[0]->ops[2]; }
fb::ExpertsT& layer_of(fb::ModelT& m) { return *op_of(m).attributes.AsExperts(); }
fb::TensorT& read(fb::ModelT& m, size_t i) { return *m.tensors[static_cast<size_t>(op_of(m).inputs[i])]; }
void add_vector(fb::ModelT& m, int8_t* position, int32_t tensor) {
  *position = static_cast<int8_t>(op_of(m).inputs.size());
  op_of(m).inputs.push_back(tensor);
}
/// The tensor that is the last but `count` of the model.
int32_t from_last(const fb::ModelT& m, int32_t count) { return static_cast<int32_t>(m.tensors.size()) - 1 - count; }
void add_bias(fb::ModelT& m, int32_t tensor) { add_vector(m, &layer_of(m).choice_bias, tensor); }
fb::Dim rows(int32_t count) { return {-1, 0, count, 1}; }

const OpEdit kEdits[] = {
    {"rows absent", [](auto& m) { op_of(m).inputs[0] = -1; }},
    {"scores absent", [](auto& m) { op_of(m).inputs[1] = -1; }},
    {"a router without experts", [](auto& m) { op_of(m).inputs[2] = -1; }},
    {"experts that end in nothing", [](auto& m) { op_of(m).inputs[3] = -1; }},
    {"rows that are a constant", [](auto& m) { op_of(m).inputs[0] = op_of(m).inputs[2]; }},
    {"scores that are a constant", [](auto& m) { op_of(m).inputs[1] = op_of(m).inputs[2]; }},
    {"rows as i8", [](auto& m) { read(m, 0).type = fb::DType::i8; }},
    {"scores as i8", [](auto& m) { read(m, 1).type = fb::DType::i8; }},
    {"rows of sequences", [](auto& m) { read(m, 0).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"scores of more experts", [](auto& m) { read(m, 1).shape[1] = rows(kExperts + 1); }},
    {"no experts", [](auto& m) { layer_of(m).experts = 0; }},
    {"experts without scores and weights", [](auto& m) { layer_of(m).experts = kExperts + 1; }},
    {"experts beyond all", [](auto& m) { layer_of(m).experts = UINT32_MAX; }},
    {"tokens that go nowhere", [](auto& m) { layer_of(m).top = 0; }},
    {"tokens that go to more than all", [](auto& m) { layer_of(m).top = kExperts + 1; }},
    {"an unknown activation", [](auto& m) { layer_of(m).activation = static_cast<fb::ActivationKind>(99); }},
    {"gates that are not there", [](auto& m) { layer_of(m).gated = false; }},
    {"no outputs", [](auto& m) { layer_of(m).outputs = 0; }, Status::kUnsupported},
    {"outputs beyond all", [](auto& m) { layer_of(m).outputs = UINT32_MAX; }, Status::kUnsupported},
    {"more outputs than weights", [](auto& m) { layer_of(m).outputs = 17; }},
    {"weights that change with the input", [](auto& m) { op_of(m).inputs[2] = op_of(m).inputs[0]; }},
    {"weights of fewer experts", [](auto& m) { read(m, 2).shape[0] = rows(kExperts * kUp - kUp); }},
    {"weights of one more output", [](auto& m) { read(m, 3).shape[0] = rows(kExperts * kDown - 1); }},
    {"weights of other inputs", [](auto& m) { read(m, 2).shape[1] = rows(kWidth - 1); }},
    {"weights of fewer columns between", [](auto& m) { read(m, 3).shape[1] = rows(kInner - 5); }},
    {"weights in rows",
     [](auto& m) {
       read(m, 2).layout = fb::Layout::rows;
       read(m, 2).scale_kind = fb::ScaleKind::none;
       read(m, 2).type = fb::DType::i32;
     }},
    {"a vector for weights", [](auto& m) { op_of(m).inputs[2] = static_cast<int32_t>(m.tensors.size()) - 1; }},
    {"all scores without a capacity", [](auto& m) { op_of(m).inputs[4] = op_of(m).inputs[1]; }},
    {"a capacity without all scores", [](auto& m) { layer_of(m).capacity = 2; }},
    {"shares of no kind", [](auto& m) { layer_of(m).shares = static_cast<fb::ShareKind>(9); }, Status::kUnsupported},
    {"a bias too many for its choice", [](auto& m) { layer_of(m).choice_bias = 3; }},
    {"a bias of a number too many", [](auto& m) { add_bias(m, static_cast<int32_t>(m.tensors.size()) - 1); }},
    {"a bias that changes with the input", [](auto& m) { add_bias(m, op_of(m).inputs[1]); }},
    {"a bias that is not there", [](auto& m) { layer_of(m).choice_bias = 77; }},
    {"masked scores with a bias",
     [](auto& m) {
       layer_of(m).shares = fb::ShareKind::masked;
       add_bias(m, from_last(m, 1));
     }},
    {"a threshold below 0",
     [](auto& m) {
       layer_of(m).shares = fb::ShareKind::masked;
       layer_of(m).threshold = -1;
     }},
    {"a threshold without end",
     [](auto& m) {
       layer_of(m).shares = fb::ShareKind::masked;
       layer_of(m).threshold = INFINITY;
     }},
    {"a bias of the first matrix with a number missing",
     [](auto& m) { add_vector(m, &layer_of(m).up_bias, from_last(m, 0)); }},
    {"a bias of the second matrix with a number missing",
     [](auto& m) { add_vector(m, &layer_of(m).down_bias, from_last(m, 0)); }},
    {"a bias of the first matrix that is one of the second",
     [](auto& m) { add_vector(m, &layer_of(m).up_bias, from_last(m, 2)); }},
    {"a bias of the second matrix that changes with the input",
     [](auto& m) { add_vector(m, &layer_of(m).down_bias, op_of(m).inputs[1]); }},
    {"a bias that is nowhere", [](auto& m) { layer_of(m).up_bias = 77; }},
    {"a negative bound", [](auto& m) { layer_of(m).limit = -1; }},
    {"a bound that is no number", [](auto& m) { layer_of(m).limit = NAN; }},
    {"a bound without end", [](auto& m) { layer_of(m).limit = INFINITY; }},
    {"gates with infinity added", [](auto& m) { layer_of(m).gate_added = -INFINITY; }},
    {"gates with no number added", [](auto& m) { layer_of(m).gate_added = NAN; }},
    {"an output too narrow", [](auto& m) { m.tensors[static_cast<size_t>(op_of(m).outputs[0])]->shape[1] = rows(6); }},
    {"an output over its rows", [](auto& m) { op_of(m).outputs[0] = op_of(m).inputs[0]; }},
    {"no output", [](auto& m) { op_of(m).outputs[0] = -1; }},
    {"an input too many", [](auto& m) { op_of(m).inputs.push_back(op_of(m).inputs[0]); }},
};

ModelBuilder with_vector(ModelBuilder b) {
  b.vector("ups", std::vector<float>(kExperts * kUp, 1.0F));
  b.vector("downs", std::vector<float>(kExperts * kDown, 1.0F));
  b.vector("bias", std::vector<float>(kExperts, 1.0F));
  b.vector("vector", std::vector<float>(16, 1.0F));
  return b;
}

TEST(HostileExperts, AreRefusedWithAReason) {
  expect_refused(kEdits, [] { return with_vector(experts_model(2, 0, WeightType::kF32)); });
}
TEST(HostileExperts, OfInt8AreRefusedWithAReason) {
  expect_refused(kEdits, [] { return with_vector(experts_model(2, 0, WeightType::kI8)); });
}

/// Edits of a layer with a capacity, which also reads the scores of all tokens.
const OpEdit kCapacityEdits[] = {
    {"two experts a token", [](auto& m) { layer_of(m).top = 2; }},
    {"a bias beside a capacity", [](auto& m) { add_bias(m, from_last(m, 1)); }},
    {"all scores of something else", [](auto& m) { op_of(m).inputs[4] = op_of(m).inputs[0]; }},
    {"no scores of all", [](auto& m) { op_of(m).inputs[4] = -1; }},
    {"scores in a tile",
     [](auto& m) {
       read(m, 1).region = fb::Region::tile;
       read(m, 1).shape[0] = fb::Dim(2, 1, 0, 1);
       read(m, 1).offset.clear();
     }},
    {"scores of the same step",
     [](auto& m) {
       m.subgraphs[0]->steps.erase(m.subgraphs[0]->steps.begin());
       m.subgraphs[0]->steps[0]->first_op = 0;
       m.subgraphs[0]->steps[0]->op_count = 3;
     }},
};

TEST(HostileExperts, WithACapacityAreRefusedWithAReason) {
  expect_refused(kCapacityEdits, [] { return with_vector(experts_model(1, 2, WeightType::kF32)); });
}

TEST(HostileExperts, OfOneStepNeedNoBarrierWithoutACapacity) {
  ModelBuilder builder = experts_model(2, 0, WeightType::kF32);
  kCapacityEdits[5].apply(builder.model);
  Fault fault;
  EXPECT_EQ(open(builder, &fault), Status::kOk) << fault.what;
}

TEST(HostileExperts, AreRefusedByTheirSentences) {
  const char* const scores = "experts with a capacity want their scores as shared f32 rows of tokens";
  expect_rules_of_op("experts",
                     {{scores, Status::kCorrupt, kCapacityEdits[4].apply},
                      {scores, Status::kCorrupt,
                       [](auto& m) {
                         m.subgraphs[0]->steps[1]->rows = 1;
                         for (const size_t i : {size_t{0}, size_t{1}}) read(m, i).shape[0] = fb::Dim(1, 1, 0, 1);
                       }}},
                     [] { return experts_model(1, 2, WeightType::kF32); });
  const char* const chosen = "a row goes through no expert, or through more than there are or 64";
  expect_rules_of_op("experts",
                     {{chosen, Status::kCorrupt, [](auto& m) { layer_of(m).experts = layer_of(m).top = 65; }},
                      {"experts are too wide, or have no outputs", Status::kUnsupported,
                       [](auto& m) { read(m, 3).shape[1] = rows(ops::kMaxWidth + 1); }},
                      {"an int8 layer has more than 131,071 inputs", Status::kUnsupported,
                       [](auto& m) { read(m, 0).shape[1] = read(m, 2).shape[1] = rows(131072); }}},
                     [] { return experts_model(2, 0, WeightType::kI8); });
  const auto with_bias = [](fb::ModelT& m) { add_bias(m, from_last(m, 1)); };
  const char* const known = "experts with such shares are not known";
  const char* const masked = "experts that are chosen by masked scores have a bias";
  const char* const threshold = "the threshold of masked scores is not a number of at least 0";
  expect_rules_of_op(
      "experts",
      {{known, Status::kUnsupported, [](auto& m) { layer_of(m).shares = static_cast<fb::ShareKind>(3); }},
       {masked, Status::kCorrupt,
        [with_bias](auto& m) {
          layer_of(m).shares = fb::ShareKind::masked;
          with_bias(m);
        }},
       {threshold, Status::kCorrupt,
        [](auto& m) {
          layer_of(m).shares = fb::ShareKind::masked;
          layer_of(m).threshold = -0.5F;
        }},
       {threshold, Status::kCorrupt,
        [](auto& m) {
          layer_of(m).shares = fb::ShareKind::masked;
          layer_of(m).threshold = NAN;
        }},
       {threshold, Status::kCorrupt,
        [](auto& m) {
          layer_of(m).shares = fb::ShareKind::masked;
          layer_of(m).threshold = 2e6F;
        }},
       {"what experts are chosen by is not an f32 vector of a number an expert", Status::kCorrupt,
        [](auto& m) { add_bias(m, static_cast<int32_t>(m.tensors.size()) - 1); }}},
      [] { return with_vector(experts_model(2, 0, WeightType::kF32)); });
  const char* const bound = "the bound of an expert's columns is not a number of at least 0";
  const char* const added = "what is added to an expert's gates is no such number, or there are no gates";
  const char* const bias = "the bias of experts is not an f32 vector of a number for each row of their matrix";
  expect_rules_of_op(
      "experts",
      {{bound, Status::kCorrupt, [](auto& m) { layer_of(m).limit = 2e6F; }},
       {bound, Status::kCorrupt, [](auto& m) { layer_of(m).limit = -0.5F; }},
       {added, Status::kCorrupt, [](auto& m) { layer_of(m).gate_added = 2e6F; }},
       {added, Status::kCorrupt, [](auto& m) { layer_of(m).gate_added = -2e6F; }},
       {bias, Status::kCorrupt, [](auto& m) { add_vector(m, &layer_of(m).up_bias, from_last(m, 2)); }},
       {bias, Status::kCorrupt, [](auto& m) { add_vector(m, &layer_of(m).down_bias, from_last(m, 3)); }}},
      [] { return with_vector(experts_model(2, 0, WeightType::kF32)); });
  expect_rules_of_op("experts",
                     {{added, Status::kCorrupt,
                       [](auto& m) {
                         layer_of(m).gated = false;
                         read(m, 2).shape[0] = rows(kExperts * kUp / 2);
                         layer_of(m).gate_added = 1;
                       }}},
                     [] { return experts_model(2, 0, WeightType::kF32); });
  expect_rules_of_op("experts", {{"experts with a capacity have a bias", Status::kCorrupt, with_bias}},
                     [] { return with_vector(experts_model(1, 2, WeightType::kF32)); });
}

TEST(HostileExperts, WithBiasesAndBoundsOpen) {
  for (const WeightType type : {WeightType::kF32, WeightType::kI8}) {
    ModelBuilder builder = with_vector(experts_model(2, 0, type));
    fb::ModelT& m = builder.model;
    add_vector(m, &layer_of(m).up_bias, from_last(m, 3));
    add_vector(m, &layer_of(m).down_bias, from_last(m, 2));
    layer_of(m).limit = 1e6F;
    layer_of(m).gate_added = -1e6F;
    Fault fault;
    EXPECT_EQ(open(builder, &fault), Status::kOk) << fault.what;
  }
}

/// Shares of each kind, with a bias and without.
TEST(HostileExperts, OfEachKindOpen) {
  for (const fb::ShareKind shares : {fb::ShareKind::softmax, fb::ShareKind::sigmoid, fb::ShareKind::masked}) {
    for (const bool biased : {false, true}) {
      if (biased && shares == fb::ShareKind::masked) continue;
      ModelBuilder builder = with_vector(experts_model(2, 0, WeightType::kF32));
      layer_of(builder.model).shares = shares;
      layer_of(builder.model).threshold = shares == fb::ShareKind::masked ? 1e6F : -1;
      if (biased) add_bias(builder.model, from_last(builder.model, 1));
      Fault fault;
      EXPECT_EQ(open(builder, &fault), Status::kOk) << fault.what;
    }
  }
}

}  // namespace
}  // namespace bantam::testing::hostile_experts_test
