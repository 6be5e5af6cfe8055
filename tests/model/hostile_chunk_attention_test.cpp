// hostile_test.cpp for attention within chunks.
#include <gtest/gtest.h>

#include <limits>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_chunk_attention_test {
namespace {

constexpr uint32_t kIds = 9, kHeads = 2, kWidth = 3, kColumns = kHeads * kWidth, kRounds = 3, kProducts = 16;

/// Queries, keys and values of tokens, or queries and values with hashing.
ModelBuilder chunked_model(bool hashed, bool copies) {
  ModelBuilder b;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const uint32_t all = (hashed ? 2 : 3) * kColumns, rows = kHeads * kRounds * kProducts;
  const int32_t words = b.table("words", kIds, all, std::vector<float>(kIds * all), WeightType::kF32);
  const int32_t rotations =
      hashed ? b.weights("rotations", rows, kWidth, std::vector<float>(rows * kWidth), WeightType::kF32) : -1;
  b.step(0);
  const int32_t x = b.activation("queries, keys and values", 0, all);
  fb::EmbedT one;
  one.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& embed = b.op("embed", attributes(one), {}, {x});
  embed.attributes.AsEmbed()->tables[0]->tensor = name_input(embed, words);
  b.step(1);
  fb::ChunkAttentionT chunks;
  chunks.heads = kHeads;
  chunks.chunk = 4;
  chunks.before = 1;
  chunks.after = 2;
  chunks.full_until = 3;
  chunks.multiple = 12;
  chunks.scale = 0.5f;
  if (hashed) {
    chunks.rounds = kRounds;
    chunks.buckets = {4, 6};
    chunks.epsilon = 1e-6f;
  }
  std::vector<int32_t> outputs = {b.output("y", 0, kColumns)};
  if (copies) outputs.push_back(b.activation("copies", 0, kColumns, fb::DType::i8));
  b.op("chunks", attributes(chunks), {x, rotations}, outputs);
  return b;
}

ModelBuilder by_text() { return chunked_model(false, true); }
ModelBuilder by_hashes() { return chunked_model(true, true); }

fb::OpT& op(fb::ModelT& m) { return *m.subgraphs[0]->ops[1]; }
fb::ChunkAttentionT& chunks(fb::ModelT& m) { return *op(m).attributes.AsChunkAttention(); }
fb::TensorT& at(fb::ModelT& m, int32_t index) { return *m.tensors[static_cast<size_t>(index)]; }
fb::TensorT& output(fb::ModelT& m, size_t i) { return at(m, op(m).outputs[i]); }
fb::Dim columns(uint32_t count) { return {-1, 0, static_cast<int32_t>(count), 1}; }

/// Rules that apply to both kinds.
const OpEdit kShared[] = {
    {"no head", [](auto& m) { chunks(m).heads = 0; }},
    {"heads that do not share the columns out", [](auto& m) { chunks(m).heads = 4; }},
    {"chunks of no token", [](auto& m) { chunks(m).chunk = 0; }},
    {"texts filled up to a multiple of nothing", [](auto& m) { chunks(m).multiple = 0; }},
    {"chunks that do not share out what texts are filled up to", [](auto& m) { chunks(m).multiple = 10; }},
    {"texts of one chunk that are longer than it", [](auto& m) { chunks(m).full_until = 5; }},
    {"texts filled up to too many tokens", [](auto& m) { chunks(m).multiple = 1u << 17; }, Status::kUnsupported},
    {"chunks of too many tokens",
     [](auto& m) {
       chunks(m).chunk = chunks(m).multiple = 1u << 16;
       chunks(m).before = 0;
     },
     Status::kUnsupported},
    {"too many chunks in front", [](auto& m) { chunks(m).before = 0xffffffffu; }, Status::kUnsupported},
    {"too many chunks behind", [](auto& m) { chunks(m).after = 1u << 15; }, Status::kUnsupported},
    {"no scale", [](auto& m) { chunks(m).scale = 0; }},
    {"a scale that is not a number", [](auto& m) { chunks(m).scale = std::numeric_limits<float>::quiet_NaN(); }},
    {"rows absent", [](auto& m) { op(m).inputs[0] = -1; }},
    {"rows in a tile", [](auto& m) { at(m, op(m).inputs[0]).region = fb::Region::tile; }},
    {"rows as i8", [](auto& m) { at(m, op(m).inputs[0]).type = fb::DType::i8; }},
    {"rows of sequences", [](auto& m) { at(m, op(m).inputs[0]).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"rows of another width", [](auto& m) { at(m, op(m).inputs[0]).shape[1] = columns(7); }},
    {"an input too many", [](auto& m) { op(m).inputs.push_back(op(m).inputs[0]); }},
    {"an epilogue",
     [](auto& m) {
       op(m).epilogue = std::make_unique<fb::EpilogueT>();
       op(m).epilogue->activation = fb::ActivationKind::relu;
     }},
    {"a step over tokens", [](auto& m) { m.subgraphs[0]->steps[1]->rows = 0; }},
    {"no output", [](auto& m) { op(m).outputs[0] = -1; }},
    {"an output over the rows", [](auto& m) { op(m).outputs[0] = op(m).inputs[0]; }},
    {"an output of another width", [](auto& m) { output(m, 0).shape[1] = columns(5); }},
    {"an output of sequences", [](auto& m) { output(m, 0).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"copies of another width", [](auto& m) { output(m, 1).shape[1] = columns(5); }},
    {"copies as f32", [](auto& m) { output(m, 1).type = fb::DType::f32; }},
    {"copies in a tile",
     [](auto& m) {
       output(m, 1).region = fb::Region::tile;
       output(m, 1).shape[0] = fb::Dim(2, 1, 0, 1);
     }},
    {"copies over the output", [](auto& m) { op(m).outputs[1] = op(m).outputs[0]; }},
};
TEST(HostileChunkAttention, IsRefusedWithAReason) {
  expect_refused(kShared, by_text);
  expect_refused(kShared, by_hashes);
}

const OpEdit kOfText[] = {
    {"buckets", [](auto& m) { chunks(m).buckets = {4}; }},
    {"an epsilon", [](auto& m) { chunks(m).epsilon = 1e-6f; }},
    {"rotations", [](auto& m) { op(m).inputs[1] = 0; }},
    {"rounds", [](auto& m) { chunks(m).rounds = 1; }},
};
TEST(HostileChunkAttention, OfTextIsRefusedWithAReason) { expect_refused(kOfText, by_text); }

const OpEdit kOfHashes[] = {
    {"no round", [](auto& m) { chunks(m).rounds = 0; }},
    {"other rounds", [](auto& m) { chunks(m).rounds = 2; }},
    {"too many rounds", [](auto& m) { chunks(m).rounds = 65; }, Status::kUnsupported},
    {"no epsilon", [](auto& m) { chunks(m).epsilon = 0; }},
    {"an epsilon above 1", [](auto& m) { chunks(m).epsilon = 2; }},
    {"no buckets", [](auto& m) { chunks(m).buckets.clear(); }},
    {"an odd count of buckets",
     [](auto& m) {
       chunks(m).buckets = {4, 5};
     }},
    {"a count of no buckets",
     [](auto& m) {
       chunks(m).buckets = {0, 6};
     }},
    {"too many counts of buckets", [](auto& m) { chunks(m).buckets = {2, 2, 2, 2, 2, 2, 2, 2, 2}; }},
    {"too many buckets of a count", [](auto& m) { chunks(m).buckets = {1u << 17}; }, Status::kUnsupported},
    {"too many buckets",
     [](auto& m) {
       chunks(m).buckets = {1u << 10, 1u << 10};
     },
     Status::kUnsupported},
    {"counts of more products than rotations have",
     [](auto& m) {
       chunks(m).buckets = {4, 30};
     }},
    {"no rotations", [](auto& m) { op(m).inputs[1] = -1; }},
    {"rotations that change with the input", [](auto& m) { op(m).inputs[1] = op(m).inputs[0]; }},
    {"rotations of f16", [](auto& m) { at(m, op(m).inputs[1]).type = fb::DType::f16; }},
    {"rotations in rows", [](auto& m) { at(m, op(m).inputs[1]).layout = fb::Layout::rows; }},
    {"rotations of fewer rows", [](auto& m) { at(m, op(m).inputs[1]).shape[0] = columns(80); }},
    {"rotations of another width", [](auto& m) { at(m, op(m).inputs[1]).shape[1] = columns(2); }},
    {"a vector for rotations", [](auto& m) { at(m, op(m).inputs[1]).shape.resize(1); }},
};
TEST(HostileChunkAttention, OfHashesIsRefusedWithAReason) { expect_refused(kOfHashes, by_hashes); }

TEST(HostileChunkAttention, WritesRowsOfTheArena) {
  const char* const sentence = "rows of an operator over sequences are of another kind, type or width";
  const std::vector<FaultEdit> edits = {
      {sentence, [](auto& b) { output(b.model, 0).shape[0] = fb::Dim(1, 1, 0, 1); }},
      {sentence,
       [](auto& b) {
         output(b.model, 0).role = fb::Role::state;
         output(b.model, 0).offset.clear();
       }},
      {sentence,
       [](auto& b) {
         output(b.model, 0).layout = fb::Layout::key_pages;
         output(b.model, 0).heads = 1;
       }},
  };
  expect_sentences(edits, by_text);
  expect_sentences(edits, by_hashes);
}

TEST(HostileChunkAttention, CopiesAreNoOutputOfTheModel) {
  expect_rules({{"an output is not shared f32 rows", Status::kCorrupt,
                 [](auto& m) {
                   output(m, 1).role = fb::Role::output;
                   m.outputs[0]->tensor = op(m).outputs[1];
                 }}},
               by_text);
}

TEST(HostileChunkAttention, TakesWhatItSays) {
  Fault fault;
  for (const bool hashed : {false, true}) {
    EXPECT_EQ(open(chunked_model(hashed, false), &fault), Status::kOk) << fault.what;
  }
}

}  // namespace
}  // namespace bantam::testing::hostile_chunk_attention_test
