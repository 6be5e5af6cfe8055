// Models with operators that few families have: the same bits for every instruction set, tile and batch.
#include "golden/same_bits.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bantam/session.h"
#include "golden/expected.h"
#include "import/hugging_face.h"

namespace bantam::golden::same_bits_test {
namespace {

convert::FileBytes file_of(const char* model, fb::DType type) {
  convert::TypeOptions types;
  types.weights = type;
  types.small_matrix = 0;
  return convert::build(convert::import_hugging_face(model_directory(model)), types);
}

void expect_same_bits_of(const char* model, uint32_t vocabulary, uint32_t longest) {
  std::vector<uint32_t> lengths;
  for (uint32_t i = 0; i < 23; ++i) lengths.push_back(1 + i * 7 % longest);
  const testing::Ids all = testing::random_ids(lengths, vocabulary, 1, 5);
  for (const fb::DType type : {fb::DType::f32, fb::DType::i8}) {
    SCOPED_TRACE(std::string(model) + ", " + fb::EnumNameDType(type));
    expect_same_bits(file_of(model, type), all);
  }
}

/// XLNet's search for answers.
TEST(SameBits, OfRowsThatScoresSelect) { expect_same_bits_of("xlnet-search", 60, 37); }

TEST(SameBits, OfDirectionsThatStayApart) {
  expect_same_bits_of("elmo-classify", 47, 24);
  expect_same_bits_of("elmo-tag-characters", 47, 24);
}

TEST(SameBits, OfTokensBesideThoseInFront) { expect_same_bits_of("nplm-generate", 61, 24); }

TEST(SameBits, OfColumnsConvolvedByThemselves) {
  expect_same_bits_of("evolved-encoder", 61, 24);
  expect_same_bits_of("evolved-tag", 61, 24);
}

/// Some experts have no capacity left in a tile because of the preceding tiles.
TEST(SameBits, OfExperts) {
  expect_same_bits_of("mixtral-tag", 61, 24);
  expect_same_bits_of("qwen3-moe-generate", 61, 24);
  expect_same_bits_of("switch-encoder", 61, 90);
}

/// Lists of keys begin and end with tiles and sequences, but not with pages.
TEST(SameBits, OfGlobalTokensAndBlocks) {
  for (const char* model : {"longformer-classify", "longformer-answer", "longformer-choose", "longformer-dilated",
                            "big-bird-tag", "big-bird-classify"}) {
    expect_same_bits_of(model, 61, 80);
  }
}

TEST(SameBits, OfChunksAndHashes) {
  for (const char* model :
       {"reformer-classify", "reformer-answer", "reformer-fill", "reformer-encoder", "reformer-generate"}) {
    expect_same_bits_of(model, 61, 80);
  }
}

TEST(SameBits, OfSumsOverKeys) {
  expect_same_bits_of("performer-classify", 61, 24);
  expect_same_bits_of("performer-tag", 61, 24);
}

TEST(SameBits, OfFourierTransforms) {
  expect_same_bits_of("fnet-classify", 61, 24);
  expect_same_bits_of("fnet-tag", 61, 24);
}

/// The sums are large; memory for a single text has no room for others.
TEST(SumsOverKeys, TakeMemoryForAsManyTextsAsThereAre) {
  for (const fb::DType type : {fb::DType::f32, fb::DType::i8}) {
    const convert::FileBytes bytes = file_of("performer-classify", type);
    Model model;
    ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
    const auto arena = [&](uint32_t sequences) {
      SessionOptions options;
      options.max_tokens = 24;
      options.max_sequences = sequences;
      return arena_bytes(model, options);
    };
    constexpr size_t kSums = sizeof(float) * 3 * (14 * 16 + 16);  // heads, features by columns of values, features
    EXPECT_GE(arena(2), arena(1) + kSums) << fb::EnumNameDType(type);
    EXPECT_GE(arena(16), arena(1) + 15 * kSums) << fb::EnumNameDType(type);
    EXPECT_LE(arena(2), arena(1) + 2 * kSums) << fb::EnumNameDType(type);
  }
}

/// Models whose tokens see following tokens cannot continue.
TEST(Contexts, AreRefusedWhereTokensStandBesideThoseBehind) {
  const convert::FileBytes bytes = file_of("textcnn-encoder", fb::DType::f32);
  Model model;
  ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
  SessionOptions options;
  options.max_context = 8;
  Session* session = nullptr;
  Fault fault;
  alignas(64) uint8_t arena[64];
  EXPECT_EQ(Session::create(model, options, arena, sizeof(arena), &session, &fault), Status::kInvalidArgument);
  EXPECT_STREQ(fault.what, "tokens beside those behind them keep no contexts");
}

}  // namespace
}  // namespace bantam::golden::same_bits_test
