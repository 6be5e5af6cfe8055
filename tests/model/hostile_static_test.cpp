// hostile_test.cpp for operators in integers.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_static_test {
namespace {

constexpr uint32_t kIds = 9, kWidth = 16;

/// Adds a constant of zeros.
int32_t zeros(ModelBuilder& b, const std::string& name, fb::DType type, const std::vector<uint32_t>& shape) {
  auto t = std::make_unique<fb::TensorT>();
  t->name = name;
  t->type = type;
  size_t bytes = 4;
  for (const uint32_t n : shape) {
    t->shape.emplace_back(-1, 0, static_cast<int32_t>(n), 1);
    bytes *= (n + 15) / 16 * 16;
  }
  const std::vector<uint8_t> data(bytes);
  t->data = std::make_unique<fb::Blob>(b.store(data.data(), bytes));
  if (shape.size() == 2) t->scale_kind = fb::ScaleKind::fixed;
  b.model.tensors.push_back(std::move(t));
  return static_cast<int32_t>(b.model.tensors.size()) - 1;
}

int32_t rows(ModelBuilder& b, const std::string& name, uint32_t width, fb::Layout layout = fb::Layout::rows) {
  const int32_t index =
      b.activation(name, 0, width, fb::DType::i8, layout, layout == fb::Layout::rows ? 0 : width / kWidth);
  b.model.tensors.back()->scale_kind = fb::ScaleKind::fixed;
  return index;
}

template <class Table>
fb::OpT& add_op(ModelBuilder& b, const std::string& name, Table table, std::vector<int32_t> inputs,
                std::vector<int32_t> outputs) {
  fb::OpT& op = b.op(name, attributes(table), std::move(inputs), std::move(outputs));
  op.numerics = fb::Numerics::static_int;
  op.integer = std::make_unique<fb::IntegerT>();
  return op;
}

/// Embeddings, attention with one head, and the maximum over each text.
ModelBuilder static_model() {
  ModelBuilder b;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const int32_t words = zeros(b, "words", fb::DType::i8, {kIds, 3 * kWidth});
  const int32_t of_words = zeros(b, "multipliers of words", fb::DType::i16, {kIds});
  const int32_t gamma = zeros(b, "gamma", fb::DType::i16, {3 * kWidth});
  const int32_t beta = zeros(b, "beta", fb::DType::i32, {3 * kWidth});
  const int32_t of_heads = zeros(b, "multipliers of heads", fb::DType::i32, {1});
  const int32_t of_columns = zeros(b, "multipliers of columns", fb::DType::f32, {kWidth});
  b.step(0);
  const int32_t x = rows(b, "x", 3 * kWidth);
  fb::EmbedT one;
  one.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& embed = add_op(b, "embed", std::move(one), {}, {x});
  embed.attributes.AsEmbed()->tables[0]->tensor = name_input(embed, words);
  embed.attributes.AsEmbed()->tables[0]->multiplier = name_input(embed, of_words);
  embed.epilogue = std::make_unique<fb::EpilogueT>();
  embed.epilogue->norm = fb::NormKind::layer;
  embed.epilogue->gamma = name_input(embed, gamma);
  embed.epilogue->beta = name_input(embed, beta);
  const int32_t q = rows(b, "q", kWidth), k = rows(b, "k", kWidth, fb::Layout::key_pages),
                v = rows(b, "v", kWidth, fb::Layout::value_pages);
  fb::SplitHeadsT split;
  split.heads = split.kv_heads = 1;
  split.head_width = kWidth;
  add_op(b, "split", split, {x}, {q, k, v});
  b.step(0);
  const int32_t attended = rows(b, "attended", kWidth);
  fb::AttentionT attention;
  attention.heads = attention.kv_heads = 1;
  attention.head_width = kWidth;
  attention.scale = 1;
  fb::OpT& attend = add_op(b, "attention", attention, {q, k, v}, {attended});
  attend.integer->multiplier = name_input(attend, of_heads);
  b.step(1);
  fb::PoolT pool;
  pool.kind = fb::PoolKind::first;
  fb::OpT& pooled = add_op(b, "pool", pool, {attended}, {b.output("y", 1, kWidth)});
  pooled.integer->multiplier = name_input(pooled, of_columns);
  return b;
}

fb::OpT& op(ModelBuilder& b, size_t number) { return *b.model.subgraphs[0]->ops[number]; }
fb::SplitHeadsT& split(ModelBuilder& b) { return *op(b, 1).attributes.AsSplitHeads(); }
fb::AttentionT& attention(ModelBuilder& b) { return *op(b, 2).attributes.AsAttention(); }
fb::TensorT& keys(ModelBuilder& b) { return *b.model.tensors[static_cast<size_t>(op(b, 1).outputs[1])]; }

/// Adds an arbitrary constant to the op's inputs, for a field that names one.
int8_t name_any(ModelBuilder& b, size_t number) { return name_input(op(b, number), 0); }

TEST(HostileStatic, AttentionIsRefusedByItsOwnRules) {
  const char* const pages = "keys or values are not shared pages of i8 of the right shape";
  const char* const biased = "static attention with a bias or a cap, or to a source, is not executed";
  expect_sentences(
      {
          {pages,
           [](auto& b) {
             keys(b).region = fb::Region::tile;
             keys(b).shape[0] = fb::Dim(2, 1, 0, 1);
             keys(b).offset.clear();
           }},
          {pages,
           [](auto& b) {
             keys(b).type = fb::DType::f32;
             keys(b).scale_kind = fb::ScaleKind::none;
           }},
          {"static rotary positions are not executed", [](auto& b) { split(b).rotary = name_any(b, 1); },
           Status::kUnsupported},
          {"static norms of heads are not executed", [](auto& b) { split(b).norms = name_any(b, 1); },
           Status::kUnsupported},
          {biased, [](auto& b) { attention(b).slopes = name_any(b, 2); }, Status::kUnsupported},
          {biased, [](auto& b) { attention(b).soft_cap = 5; }, Status::kUnsupported},
          {biased, [](auto& b) { attention(b).sinks = name_any(b, 2); }, Status::kUnsupported},
          {biased, [](auto& b) { attention(b).cross = true; }, Status::kUnsupported},
      },
      static_model);
}

/// Replaces the pooled rows by rows that no op writes.
fb::TensorT& other_rows(ModelBuilder& b) {
  op(b, 3).inputs[0] = rows(b, "others", kWidth);
  return *b.model.tensors.back();
}

TEST(HostileStatic, PoolingIsRefusedByItsOwnRules) {
  const char* const pooled = "integer pooling reads shared i8 rows of tokens";
  expect_sentences(
      {
          {"unknown pooling", [](auto& b) { op(b, 3).attributes.AsPool()->kind = static_cast<fb::PoolKind>(50); }},
          {pooled, [](auto& b) { other_rows(b).shape[0] = fb::Dim(1, 1, 0, 1); }},
          {pooled, [](auto& b) { other_rows(b).scale_kind = fb::ScaleKind::per_row; }},
          {pooled,
           [](auto& b) {
             other_rows(b).layout = fb::Layout::key_pages;
             b.model.tensors.back()->heads = 1;
           }},
      },
      static_model);
}

}  // namespace
}  // namespace bantam::testing::hostile_static_test
