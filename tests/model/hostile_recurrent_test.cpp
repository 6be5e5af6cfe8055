// hostile_test.cpp for recurrent layers.
#include <gtest/gtest.h>

#include <string>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_recurrent_test {
namespace {

constexpr uint32_t kIds = 70, kCells = 20, kState = 6, kGates = 4 * 32;

/// An LSTM in both directions with a projection and a first state, over embeddings that are the gates; or SSRU cells
/// over the same embeddings.
ModelBuilder model_of(fb::Cell cell) {
  ModelBuilder b;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const int32_t words = b.table("words", kIds, 2 * kGates, std::vector<float>(kIds * 2 * kGates), WeightType::kF32);
  const auto weights = [&b](const char* name, uint32_t n, uint32_t k) {
    return b.weights(name, n, k, std::vector<float>(n * k), WeightType::kF32);
  };
  std::vector<int32_t> inputs = {-1};
  for (const char* side : {"forward.", "reverse."}) {
    const std::string prefix = side;
    inputs.push_back(weights((prefix + "weights").c_str(), kGates, kState));
    inputs.push_back(b.vector((prefix + "bias").c_str(), std::vector<float>(kGates)));
    inputs.push_back(weights((prefix + "projection").c_str(), kState, kCells));
  }
  b.step(0);
  inputs[0] = b.activation("gates", 0, 2 * kGates);
  fb::EmbedT embed;
  embed.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& op = b.op("embed", attributes(embed), {}, {inputs[0]});
  op.attributes.AsEmbed()->tables[0]->tensor = name_input(op, words);
  b.step(1);
  for (const uint32_t width : {2 * kState, 2 * kCells}) {
    const int32_t mean = b.activation("mean" + std::to_string(width), 1, 2 * kGates);
    fb::PoolT pool;
    pool.kind = fb::PoolKind::mean;
    b.op("mean", attributes(pool), {inputs[0]}, {mean});
    const int32_t first = b.activation("first" + std::to_string(width), 1, width);
    fb::SliceT slice;
    slice.width = width;
    b.op("slice", attributes(slice), {mean}, {first});
    inputs.push_back(first);
  }
  if (cell == fb::Cell::ssru) inputs.assign({inputs[0], -1, -1, -1, -1, -1, -1, -1, -1});
  const uint32_t left = cell == fb::Cell::ssru ? 60 : kState;
  const int32_t members = b.vector("members", std::vector<float>((kIds + 31) / 32));
  b.model.tensors[static_cast<size_t>(members)]->type = fb::DType::i32;
  inputs.push_back(members);
  const int32_t rows = b.output("rows", 0, 2 * left);
  const int32_t last = b.output("last", 1, 2 * left);
  const int32_t cells = cell == fb::Cell::lstm ? b.output("cells", 1, 2 * kCells) : -1;
  fb::RecurrentT layer;
  layer.cell = cell;
  layer.direction = fb::Direction::both;
  b.op("layer", attributes(layer), inputs, {rows, -1, last, cells});
  return b;
}

ModelBuilder recurrent_model() { return model_of(fb::Cell::lstm); }
ModelBuilder ssru_model() { return model_of(fb::Cell::ssru); }

fb::OpT& layer(fb::ModelT& m) { return *m.subgraphs[0]->ops.back(); }
fb::RecurrentT& fields(fb::ModelT& m) { return *layer(m).attributes.AsRecurrent(); }
fb::TensorT& operand(fb::ModelT& m, size_t i) { return *m.tensors[static_cast<size_t>(layer(m).inputs[i])]; }
fb::TensorT& written(fb::ModelT& m, size_t i) { return *m.tensors[static_cast<size_t>(layer(m).outputs[i])]; }
fb::Dim fixed(int32_t n) { return {-1, 0, n, 1}; }
void swap(fb::ModelT& m, size_t a, size_t b) { std::swap(layer(m).inputs[a], layer(m).inputs[b]); }

const OpEdit kEdits[] = {
    {"a step of tokens", [](auto& m) { m.subgraphs[0]->steps[1]->rows = 0; }},
    {"an unknown cell", [](auto& m) { fields(m).cell = static_cast<fb::Cell>(3); }},
    {"an unknown direction", [](auto& m) { fields(m).direction = static_cast<fb::Direction>(3); }},
    {"another cell", [](auto& m) { fields(m).cell = fb::Cell::gru; }},
    {"a cell without weights", [](auto& m) { fields(m).cell = fb::Cell::ssru; }},
    {"one direction", [](auto& m) { fields(m).direction = fb::Direction::forward; }},
    {"gates absent", [](auto& m) { layer(m).inputs[0] = -1; }},
    {"gates that are a constant", [](auto& m) { swap(m, 0, 1); }},
    {"gates that are sequences", [](auto& m) { swap(m, 0, 7); }},
    {"gates as i8", [](auto& m) { operand(m, 0).type = fb::DType::i8; }},
    {"weights absent", [](auto& m) { layer(m).inputs[1] = -1; }},
    {"weights of the other direction absent", [](auto& m) { layer(m).inputs[4] = -1; }},
    {"weights that are a vector", [](auto& m) { layer(m).inputs[1] = layer(m).inputs[2]; }},
    {"weights that are rows", [](auto& m) { layer(m).inputs[1] = layer(m).inputs[0]; }},
    {"weights of another shape", [](auto& m) { layer(m).inputs[4] = layer(m).inputs[3]; }},
    {"weights of another width", [](auto& m) { operand(m, 4).shape[1] = fixed(5); }},
    {"weights in rows", [](auto& m) { operand(m, 1).layout = fb::Layout::rows; }},
    {"a bias that is a matrix", [](auto& m) { layer(m).inputs[2] = layer(m).inputs[1]; }},
    {"a bias of another length", [](auto& m) { operand(m, 5).shape[0] = fixed(127); }},
    {"a projection that is a vector", [](auto& m) { layer(m).inputs[3] = layer(m).inputs[2]; }},
    {"a projection in one direction", [](auto& m) { layer(m).inputs[6] = -1; }},
    {"a projection in the other direction", [](auto& m) { layer(m).inputs[3] = -1; }},
    {"a projection of another shape", [](auto& m) { operand(m, 6).shape[1] = fixed(19); }},
    {"a first state of another width", [](auto& m) { swap(m, 7, 8); }},
    {"a first state of tokens", [](auto& m) { layer(m).inputs[7] = layer(m).inputs[0]; }},
    {"first cells that are a constant", [](auto& m) { layer(m).inputs[8] = layer(m).inputs[2]; }},
    {"members of fewer ids", [](auto& m) { operand(m, 9).shape[0] = fixed(2); }},
    {"members as f32", [](auto& m) { operand(m, 9).type = fb::DType::f32; }},
    {"members that are rows", [](auto& m) { layer(m).inputs[9] = layer(m).inputs[0]; }},
    {"an input too many", [](auto& m) { layer(m).inputs.push_back(layer(m).inputs[1]); }},
    {"no rows", [](auto& m) { layer(m).outputs[0] = -1; }},
    {"neither rows nor a last state", [](auto& m) { layer(m).outputs[0] = layer(m).outputs[2] = -1; }},
    {"rows of another width", [](auto& m) { written(m, 0).shape[1] = fixed(13); }},
    {"rows of sequences", [](auto& m) { written(m, 0).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"a copy that is f32", [](auto& m) { layer(m).outputs[1] = layer(m).outputs[2]; }},
    {"a last state of another width", [](auto& m) { std::swap(layer(m).outputs[2], layer(m).outputs[3]); }},
    {"last cells that are rows", [](auto& m) { layer(m).outputs[3] = layer(m).outputs[0]; }},
    {"an output too many", [](auto& m) { layer(m).outputs.push_back(-1); }},
    {"an epilogue", [](auto& m) { layer(m).epilogue = std::make_unique<fb::EpilogueT>(); }},
};

TEST(HostileRecurrent, IsRefusedWithAReason) { expect_refused(kEdits, recurrent_model); }

const OpEdit kSsruEdits[] = {
    {"weights", [](auto& m) { layer(m).inputs[1] = 0; }},
    {"a bias", [](auto& m) { layer(m).inputs[5] = 0; }},
    {"neither rows nor a last state", [](auto& m) { layer(m).outputs[0] = layer(m).outputs[2] = -1; }},
    {"rows of another width", [](auto& m) { written(m, 0).shape[1] = fixed(130); }},
    {"first cells", [](auto& m) { layer(m).inputs[8] = layer(m).inputs[0]; }},
};

TEST(HostileRecurrent, CellsWithoutWeightsAreRefusedWithAReason) { expect_refused(kSsruEdits, ssru_model); }

/// Makes a matrix of the given width in a sparse layout that stores no blocks, so it is small.
void make_empty(ModelBuilder& b, fb::TensorT& t, int32_t columns) {
  std::vector<uint8_t> order(32);  // of 16 outputs, after the ends of their groups
  for (uint8_t i = 0; i < 16; ++i) order[16 + i] = i;
  const std::vector<float> numbers(16);
  t.type = fb::DType::i8;
  t.layout = fb::Layout::sparse_1x4;
  t.scale_kind = fb::ScaleKind::per_output;
  t.shape = {fixed(16), fixed(columns)};
  t.data = std::make_unique<fb::Blob>(b.store(order.data(), order.size()));
  t.scales = std::make_unique<fb::Blob>(b.store(numbers.data(), numbers.size() * sizeof(float)));
  t.sums = std::make_unique<fb::Blob>(b.store(numbers.data(), numbers.size() * sizeof(float)));
}

TEST(HostileRecurrent, SizesAreBounded) {
  const char* const sentence = "a recurrent layer is too wide";
  expect_sentences(
      {
          {sentence, [](auto& b) { make_empty(b, operand(b.model, 3), (1 << 19) + 1); }, Status::kUnsupported},
          {sentence, [](auto& b) { make_empty(b, operand(b.model, 1), (1 << 21) + 1); }, Status::kUnsupported},
      },
      recurrent_model);
}

TEST(HostileRecurrent, LeavesFloatsInRows) {
  const char* const sentence = "rows of a recurrent layer are of another kind, type or width";
  expect_sentences(
      {
          {sentence, [](auto& b) { written(b.model, 0).shape[0] = fb::Dim(1, 1, 0, 1); }},
          {sentence, [](auto& b) { written(b.model, 2).shape[0] = fb::Dim(0, 1, 0, 1); }},
          {sentence,
           [](auto& b) {
             written(b.model, 0).role = fb::Role::state;
             written(b.model, 0).offset.clear();
           }},
          {sentence,
           [](auto& b) {
             written(b.model, 0).type = fb::DType::i8;
             written(b.model, 0).scale_kind = fb::ScaleKind::per_row;
           }},
          {sentence,
           [](auto& b) {
             written(b.model, 0).layout = fb::Layout::key_pages;
             written(b.model, 0).heads = 1;
           }},
      },
      recurrent_model);
}

TEST(HostileRecurrent, OpensWithoutWhatIsOptional) {
  ModelBuilder builder = recurrent_model();
  Fault fault;
  layer(builder.model).inputs[2] = layer(builder.model).inputs[5] = layer(builder.model).inputs[8] = -1;
  fields(builder.model).after = INT32_MAX;
  EXPECT_EQ(open(builder, &fault), Status::kOk) << fault.what;
  layer(builder.model).inputs.resize(7);
  EXPECT_EQ(open(builder, &fault), Status::kOk) << fault.what;
}

}  // namespace
}  // namespace bantam::testing::hostile_recurrent_test
