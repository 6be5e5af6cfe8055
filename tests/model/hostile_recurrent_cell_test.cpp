// hostile_test.cpp for steps of recurrent cells.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_recurrent_cell_test {
namespace {

constexpr uint32_t kIds = 9, kCells = 20, kGates = 4 * 32;

/// One step of an LSTM whose gates and cells are embeddings.
ModelBuilder cell_model() {
  ModelBuilder b;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const auto embed = [&](const char* name, uint32_t width) {
    const int32_t words = b.table(name, kIds, width, std::vector<float>(kIds * width), WeightType::kF32);
    const int32_t rows = b.activation(name, 0, width);
    fb::EmbedT one;
    one.tables.push_back(std::make_unique<fb::EmbedTableT>());
    fb::OpT& op = b.op(name, attributes(one), {}, {rows});
    op.attributes.AsEmbed()->tables[0]->tensor = name_input(op, words);
    return rows;
  };
  b.step(0);
  const std::vector<int32_t> inputs = {embed("input", kGates), embed("state", kGates), embed("before", kCells)};
  const int32_t h = b.output("h", 0, kCells), c = b.output("c", 0, kCells);
  b.op("cell", attributes(fb::RecurrentCellT()), inputs, {h, -1, c});
  return b;
}

fb::OpT& cell(fb::ModelT& m) { return *m.subgraphs[0]->ops.back(); }
fb::TensorT& cells(fb::ModelT& m) { return *m.tensors[static_cast<size_t>(cell(m).outputs[2])]; }
fb::TensorT& before(fb::ModelT& m) { return *m.tensors[static_cast<size_t>(cell(m).inputs[2])]; }
fb::Dim columns(uint32_t n) { return {-1, 0, static_cast<int32_t>(n), 1}; }

TEST(HostileRecurrentCell, IsRefusedByItsSentences) {
  const char* const left = "the cells that a step leaves are not f32 rows of their width";
  expect_rules(
      {
          {left, Status::kCorrupt,
           [](auto& m) {
             cells(m).type = fb::DType::i8;
             cells(m).scale_kind = fb::ScaleKind::per_row;
           }},
          {left, Status::kCorrupt,
           [](auto& m) {
             cells(m).layout = fb::Layout::key_pages;
             cells(m).heads = 1;
           }},
          {left, Status::kCorrupt, [](auto& m) { cells(m).shape[1] = columns(kCells - 1); }},
          {"LSTM cells, and no others, leave cells", Status::kCorrupt, [](auto& m) { cell(m).outputs[2] = -1; }},
      },
      cell_model);
}

TEST(HostileRecurrentCell, IsNotTooWide) {
  const auto make = [](uint32_t width) {
    ModelBuilder b = cell_model();
    before(b.model).shape[1] = cells(b.model).shape[1] = columns(width);
    b.model.tensors[static_cast<size_t>(cell(b.model).outputs[0])]->shape[1] = columns(width);
    for (const size_t i : {size_t{0}, size_t{1}}) {
      b.model.tensors[static_cast<size_t>(cell(b.model).inputs[i])]->shape[1] = columns(4 * kernels::pad16(width));
    }
    return verdict_of_op(b.model, "cell");
  };
  EXPECT_STREQ(make(ops::kMaxWidth / 8).what(), "");
  EXPECT_EQ(make(ops::kMaxWidth / 8 + 1).status(), Status::kUnsupported);
  EXPECT_STREQ(make(ops::kMaxWidth / 8 + 1).what(), "a recurrent layer is too wide");
}

}  // namespace
}  // namespace bantam::testing::hostile_recurrent_cell_test
