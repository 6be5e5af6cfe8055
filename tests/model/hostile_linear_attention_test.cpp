// hostile_test.cpp for attention by sums over keys.
#include <gtest/gtest.h>

#include <limits>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_linear_attention_test {
namespace {

constexpr uint32_t kIds = 9, kHeads = 2, kWidth = 3, kColumns = kHeads * kWidth, kFeatures = 5;
constexpr uint32_t kPlaces = 16;  // the number of rows in a tile of weights

/// Keys and values of tokens, their sums, and queries that read the sums.
ModelBuilder summed_model(fb::FeatureKind kind, bool own_places) {
  ModelBuilder b;
  const bool places = kind == fb::FeatureKind::places;
  b.model.max_sequence = kPlaces;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const int32_t words = b.table("words", kIds, 2 * kColumns, std::vector<float>(kIds * 2 * kColumns), WeightType::kF32);
  const uint32_t sums = own_places ? 16 * kHeads : 16;
  const int32_t matrix =
      places ? b.table("places", kPlaces, sums, std::vector<float>(kPlaces * sums), WeightType::kF32)
             : b.weights("vectors", kFeatures, kWidth, std::vector<float>(kFeatures * kWidth), WeightType::kF32);
  b.step(0);
  const int32_t both = b.activation("keys and values", 0, 2 * kColumns), q = b.activation("queries", 0, kColumns);
  fb::EmbedT one;
  one.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& embed = b.op("embed", attributes(one), {}, {both});
  embed.attributes.AsEmbed()->tables[0]->tensor = name_input(embed, words);
  fb::SliceT first;
  first.width = kColumns;
  b.op("queries", attributes(first), {both}, {q});
  b.step(1);
  const uint32_t floats = places ? kHeads * (16 * kWidth + 16 * kFeatures) : kHeads * (16 * kFeatures + 16);
  const int32_t summed = b.activation("sums", 1, floats);
  fb::KeySumsT sum;
  sum.kind = kind;
  sum.heads = kHeads;
  sum.features = kFeatures;
  sum.epsilon = places ? 0 : 1e-4f;
  b.op("sums", attributes(sum), {both, matrix, own_places ? matrix : -1}, {summed});
  b.step(0);
  fb::LinearAttentionT attention;
  attention.kind = kind;
  attention.heads = kHeads;
  attention.features = kFeatures;
  attention.epsilon = sum.epsilon;
  b.op("attention", attributes(attention), {q, summed, places ? -1 : matrix}, {b.output("y", 0, kColumns)});
  return b;
}

ModelBuilder by_features() { return summed_model(fb::FeatureKind::softmax, false); }
ModelBuilder by_places() { return summed_model(fb::FeatureKind::places, false); }

fb::OpT& sums(fb::ModelT& m) { return *m.subgraphs[0]->ops[2]; }
fb::KeySumsT& summing(fb::ModelT& m) { return *sums(m).attributes.AsKeySums(); }
fb::OpT& attention(fb::ModelT& m) { return *m.subgraphs[0]->ops[3]; }
fb::LinearAttentionT& attending(fb::ModelT& m) { return *attention(m).attributes.AsLinearAttention(); }
fb::TensorT& at(fb::ModelT& m, int32_t index) { return *m.tensors[static_cast<size_t>(index)]; }
fb::Dim columns(uint32_t count) { return {-1, 0, static_cast<int32_t>(count), 1}; }

const char* const kNoKeys = "keys and values are not shared f32 rows of tokens";
const char* const kNoSums = "sums over keys are not shared f32 rows of sequences alone";
const char* const kNoPlaces = "sums by places are not made by f32 rows of their number, or of each head's";

/// Rules that apply to both kinds.
const OpEdit kShared[] = {
    {"sums of an unknown kind", [](auto& m) { summing(m).kind = static_cast<fb::FeatureKind>(3); },
     Status::kUnsupported},
    {"queries of an unknown kind", [](auto& m) { attending(m).kind = static_cast<fb::FeatureKind>(3); },
     Status::kUnsupported},
    {"sums of no head", [](auto& m) { summing(m).heads = 0; }},
    {"queries of no head", [](auto& m) { attending(m).heads = 0; }},
    {"sums of heads that do not share the columns out", [](auto& m) { summing(m).heads = 5; }},
    {"keys and values of an odd width", [](auto& m) { summing(m).heads = 4; }},
    {"queries of heads that do not share the columns out", [](auto& m) { attending(m).heads = 4; }},
    {"sums of other heads", [](auto& m) { summing(m).heads = 3; }},
    {"queries of other heads", [](auto& m) { attending(m).heads = 3; }},
    {"sums of no feature", [](auto& m) { summing(m).features = 0; }},
    {"queries of no feature", [](auto& m) { attending(m).features = 0; }},
    {"sums of other features", [](auto& m) { summing(m).features = 6; }},
    {"queries of other features", [](auto& m) { attending(m).features = 6; }},
    {"sums that are too wide", [](auto& m) { summing(m).features = 1u << 22; }, Status::kUnsupported},
    {"queries of sums that are too wide", [](auto& m) { attending(m).features = 0xffffffffu; }, Status::kUnsupported},
    {"keys absent", [](auto& m) { sums(m).inputs[0] = -1; }},
    {"keys that are a constant", [](auto& m) { sums(m).inputs[0] = sums(m).inputs[1]; }},
    {"keys in a tile", [](auto& m) { at(m, sums(m).inputs[0]).region = fb::Region::tile; }},
    {"keys as i8", [](auto& m) { at(m, sums(m).inputs[0]).type = fb::DType::i8; }},
    {"keys that are a state", [](auto& m) { sums(m).inputs[0] = add_like(m, sums(m).inputs[0], as_state); },
     Status::kCorrupt, kNoKeys},
    {"keys of sequences", [](auto& m) { at(m, sums(m).inputs[0]).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"no matrix", [](auto& m) { sums(m).inputs[1] = -1; }},
    {"a matrix that changes with the input", [](auto& m) { sums(m).inputs[1] = sums(m).inputs[0]; }},
    {"a matrix of f16", [](auto& m) { at(m, sums(m).inputs[1]).type = fb::DType::f16; }},
    {"a matrix of one row", [](auto& m) { at(m, sums(m).inputs[1]).shape[0] = columns(1); }},
    {"a matrix of other columns", [](auto& m) { at(m, sums(m).inputs[1]).shape[1] = columns(2); }},
    {"a vector for a matrix", [](auto& m) { at(m, sums(m).inputs[1]).shape.resize(1); }},
    {"an epilogue of sums",
     [](auto& m) {
       sums(m).epilogue = std::make_unique<fb::EpilogueT>();
       sums(m).epilogue->activation = fb::ActivationKind::relu;
     }},
    {"sums as i8",
     [](auto& m) {
       sums(m).outputs = {-1, add_like(m, sums(m).outputs[0], as_i8)};
     },
     Status::kCorrupt, kNoSums},
    {"no sums", [](auto& m) { sums(m).outputs[0] = -1; }},
    {"sums over the keys", [](auto& m) { sums(m).outputs[0] = sums(m).inputs[0]; }},
    {"sums of another width", [](auto& m) { at(m, sums(m).outputs[0]).shape[1] = columns(16); }},
    {"sums in a tile", [](auto& m) { in_tile(at(m, sums(m).outputs[0])); }, Status::kCorrupt, kNoSums},
    {"a copy of sums as i8", [](auto& m) { sums(m).outputs.push_back(add_like(m, sums(m).outputs[0], as_i8)); },
     Status::kCorrupt, kNoSums},
    {"sums over tokens", [](auto& m) { m.subgraphs[0]->steps[1]->rows = 0; }},
    {"queries of sequences", [](auto& m) { m.subgraphs[0]->steps[2]->rows = 1; }},
    {"queries absent", [](auto& m) { attention(m).inputs[0] = -1; }},
    {"queries as i8", [](auto& m) { at(m, attention(m).inputs[0]).type = fb::DType::i8; }},
    {"sums that queries look at absent", [](auto& m) { attention(m).inputs[1] = -1; }},
    {"sums that are a constant", [](auto& m) { attention(m).inputs[1] = sums(m).inputs[1]; }},
    {"sums of tokens", [](auto& m) { attention(m).inputs[1] = attention(m).inputs[0]; }},
    {"sums that nobody makes",
     [](auto& m) {
       m.tensors.push_back(std::make_unique<fb::TensorT>(at(m, attention(m).inputs[1])));
       attention(m).inputs[1] = static_cast<int32_t>(m.tensors.size() - 1);
     }},
    {"an output of another width", [](auto& m) { at(m, attention(m).outputs[0]).shape[1] = columns(4); }},
    {"no output", [](auto& m) { attention(m).outputs[0] = -1; }},
    {"an input too many", [](auto& m) { attention(m).inputs.push_back(attention(m).inputs[0]); }},
};

TEST(HostileLinearAttention, IsRefusedWithAReason) {
  expect_refused(kShared, by_features);
  expect_refused(kShared, by_places);
}

const OpEdit kOfFeatures[] = {
    {"features of nothing", [](auto& m) { summing(m).epsilon = 0; }},
    {"queries' features of nothing", [](auto& m) { attending(m).epsilon = 0; }},
    {"features with more than 1", [](auto& m) { summing(m).epsilon = 1.5f; }},
    {"features with no number", [](auto& m) { attending(m).epsilon = std::numeric_limits<float>::quiet_NaN(); }},
    {"a matrix in rows", [](auto& m) { at(m, sums(m).inputs[1]).layout = fb::Layout::rows; }},
    {"queries without a matrix", [](auto& m) { attention(m).inputs[2] = -1; }},
    {"a matrix of values", [](auto& m) { sums(m).inputs[2] = sums(m).inputs[1]; }},
};
TEST(HostileLinearAttention, OfFeaturesIsRefusedWithAReason) { expect_refused(kOfFeatures, by_features); }

const OpEdit kOfPlaces[] = {
    {"an epsilon", [](auto& m) { summing(m).epsilon = 1e-3f; }},
    {"an epsilon of queries", [](auto& m) { attending(m).epsilon = 1e-3f; }},
    {"fewer places than a text has", [](auto& m) { m.max_sequence = kPlaces + 1; }},
    {"texts of any length", [](auto& m) { m.max_sequence = 0; }},
    {"tiles of places", [](auto& m) { at(m, sums(m).inputs[1]).layout = fb::Layout::tile_n16; }, Status::kCorrupt,
     kNoPlaces},
    {"places of three dimensions", [](auto& m) { at(m, sums(m).inputs[1]).shape.push_back(columns(1)); },
     Status::kCorrupt, kNoPlaces},
    {"places that change with the input",
     [](auto& m) { sums(m).inputs[1] = add_like(m, sums(m).inputs[0], [](auto& t) { t.shape[1] = columns(16); }); },
     Status::kCorrupt, kNoPlaces},
    {"places of values of one row",
     [](auto& m) {
       m.tensors.push_back(std::make_unique<fb::TensorT>(at(m, sums(m).inputs[1])));
       m.tensors.back()->shape[0] = columns(1);
       sums(m).inputs[2] = static_cast<int32_t>(m.tensors.size() - 1);
     }},
    {"queries with a matrix", [](auto& m) { attention(m).inputs[2] = sums(m).inputs[1]; }},
};
TEST(HostileLinearAttention, OfPlacesIsRefusedWithAReason) { expect_refused(kOfPlaces, by_places); }

/// Other sums of the same width for the queries, which no op writes.
fb::TensorT& other_sums(ModelBuilder& b) {
  fb::ModelT& m = b.model;
  m.tensors.push_back(std::make_unique<fb::TensorT>(at(m, attention(m).inputs[1])));
  attention(m).inputs[1] = static_cast<int32_t>(m.tensors.size() - 1);
  return *m.tensors.back();
}

TEST(HostileLinearAttention, SumsAreRowsOfSequences) {
  const char* const sums = "sums over keys are not f32 rows of sequences of their width";
  const std::vector<FaultEdit> edits = {
      {sums,
       [](auto& b) {
         other_sums(b).role = fb::Role::state;
         b.model.tensors.back()->offset.clear();
       }},
      {sums, [](auto& b) { other_sums(b).shape[0] = fb::Dim(0, 1, 0, 1); }},
      {sums,
       [](auto& b) {
         other_sums(b).type = fb::DType::i8;
         b.model.tensors.back()->scale_kind = fb::ScaleKind::per_row;
       }},
      {sums,
       [](auto& b) {
         other_sums(b).layout = fb::Layout::key_pages;
         b.model.tensors.back()->heads = 1;
       }},
  };
  expect_sentences(edits, by_features);
  expect_sentences(edits, by_places);
}

TEST(HostileLinearAttention, TakesWhatItSays) {
  Fault fault;
  EXPECT_EQ(open(summed_model(fb::FeatureKind::relu, false), &fault), Status::kOk) << fault.what;
  EXPECT_EQ(open(summed_model(fb::FeatureKind::places, true), &fault), Status::kOk) << fault.what;
}

}  // namespace
}  // namespace bantam::testing::hostile_linear_attention_test
