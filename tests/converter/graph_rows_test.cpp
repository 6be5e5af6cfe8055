// Constants that stay in their source: what is made of them, and how much memory that takes.
#include "graph/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "converter/pack_graphs.h"
#include "graph/access.h"
#include "pack/build.h"
#include "run/runner.h"

namespace bantam::convert {
namespace {

/// Returns the values of a constant in pieces.
class Elsewhere : public RowSource {
 public:
  Elsewhere(std::vector<float> values, size_t columns) : values_(std::move(values)), columns_(columns) {}
  size_t rows() const override { return values_.size() / columns_; }
  size_t columns() const override { return columns_; }
  void read(size_t first, size_t count, float* out) const override {
    ASSERT_LE((first + count) * columns_, values_.size());
    std::copy_n(values_.data() + first * columns_, count * columns_, out);
    largest = std::max(largest, count * columns_);
  }
  mutable size_t largest = 0;  // the largest number of values requested at a time

 private:
  const std::vector<float> values_;
  const size_t columns_;
};

/// Returns the same graph with its matrices in row sources.
Graph elsewhere(const Graph& graph) {
  Graph out = clone(graph);
  for (size_t i = 0; i < out.constants.size(); ++i) {
    if (out.constants[i] == nullptr || !is_weight_matrix(out, i)) continue;
    auto moved = std::make_shared<Constant>(*out.constants[i]);
    const size_t columns = width(*out.model.tensors[i]);
    moved->later = std::make_shared<const Elsewhere>(std::move(moved->values), columns);
    moved->values.clear();
    out.constants[i] = std::move(moved);
  }
  return out;
}

TypeOptions stored_as(fb::DType type) {
  TypeOptions options;
  options.weights = type;
  return options;
}

class RowsOfTypes : public ::testing::TestWithParam<fb::DType> {};

TEST_P(RowsOfTypes, GiveTheSameFileWhereverTheyAre) {
  const Graph held = fixture::bert_graph({}), there = elsewhere(held);
  ColumnMaxima maxima;
  for (const std::string& name : migratable(held)) maxima[name] = std::vector<float>(40, 2.5f);
  Measured measured;
  measured.maxima = maxima;
  const FileBytes expected = build_model(held, stored_as(GetParam()), measured).bytes;
  EXPECT_EQ(build_model(there, stored_as(GetParam()), measured).bytes, expected);
  TypeOptions small = stored_as(GetParam());
  small.plan = Plan::kSmall;
  EXPECT_EQ(build(there, small), build(held, small));
}

TEST_P(RowsOfTypes, AreCountedAsTheyAreStored) {
  const Graph graph = fixture::bert_graph({});
  const Built built = build_model(graph, stored_as(GetParam()));
  EXPECT_EQ(built.file_bytes, built.bytes.size());
  EXPECT_EQ(size_of_build(graph, stored_as(GetParam())), built.bytes.size());
  EXPECT_EQ(size_of_build(elsewhere(graph), stored_as(GetParam())), built.bytes.size());
}

INSTANTIATE_TEST_SUITE_P(Types, RowsOfTypes,
                         ::testing::Values(fb::DType::f32, fb::DType::f16, fb::DType::i8, fb::DType::i4));

TEST(Rows, ValuesAreCopiedFromWhereverTheyLie) {
  const std::vector<float> values = {1, -2, 3, 4, 5, -6};
  Constant held, later;
  held.values = values;
  later.later = std::make_shared<Elsewhere>(values, 3);
  for (const Constant* constant : {&held, &later}) {
    std::vector<float> out(count_values(*constant));
    copy_values(*constant, out.data());
    EXPECT_EQ(out, values);
  }
}

TEST(Rows, AreReadInPiecesAndHeldWhenTheyShallChange) {
  constexpr size_t kColumns = 1024, kRows = 2000;
  std::vector<float> values(kColumns * kRows);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1013);
  const auto source = std::make_shared<const Elsewhere>(values, kColumns);
  Constant there, held;
  there.later = source;
  held.values = values;
  EXPECT_EQ(count_values(there), values.size());
  ConstantRows rows(there, kColumns);
  ASSERT_EQ(rows.size(), kRows);
  for (const size_t r : {size_t{0}, size_t{1}, size_t{1999}, size_t{3}}) {
    EXPECT_TRUE(std::equal(rows.row(r), rows.row(r) + kColumns, values.data() + r * kColumns)) << r;
  }
  EXPECT_TRUE(same_values(there, held));
  held.values.back() += 1;
  EXPECT_FALSE(same_values(there, held));
  EXPECT_LE(source->largest * sizeof(float), size_t{1} << 20);
  hold_values(there);
  EXPECT_EQ(there.later, nullptr);
  EXPECT_EQ(there.values, values);
}

TEST(Rows, StayOneConstantWhereTensorsShareIt) {
  Graph graph = elsewhere(fixture::bert_graph({}));
  graph.model.tensors.push_back(std::make_unique<fb::TensorT>(*graph.model.tensors[0]));
  const auto shared = std::find_if(graph.constants.begin(), graph.constants.end(), [](const auto& constant) {
    return constant != nullptr && constant->later != nullptr;
  });
  ASSERT_NE(shared, graph.constants.end());
  graph.constants.push_back(*shared);
  const auto at = static_cast<size_t>(std::distance(
      graph.constants.begin(), std::find(graph.constants.begin(), graph.constants.end(), graph.constants.back())));
  hold_values(graph);
  EXPECT_EQ(graph.constants[at], graph.constants.back());
  EXPECT_EQ(graph.constants[at]->later, nullptr);
}

TEST(ScratchFiles, GiveTheSameAnswersAsThoseInMemory) {
  fixture::Shape shape;
  shape.vocabulary = 250000;  // more than is put into a temporary file
  const Graph graph = fixture::bert_graph(shape);
  const FileBytes memory = build(graph, stored_as(fb::DType::f32));
  const FileBytes scratch = build(graph, stored_as(fb::DType::f32), DataSection::In::kScratch);
  ASSERT_TRUE(scratch.get_allocator().in_scratch(scratch.capacity()));
  EXPECT_FALSE(memory.get_allocator().in_scratch(memory.capacity()));
  ASSERT_EQ(scratch.size(), memory.size());
  Sample sample;
  sample.ids = {2, 17, 9999, 5, 3};
  Runner a(memory, 8), b(scratch, 8);
  const std::vector<OutputRows> left = a.run(sample), right = b.run(sample);
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i].values, right[i].values);
}

}  // namespace
}  // namespace bantam::convert
