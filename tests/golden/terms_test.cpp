// Sparse embeddings: the same terms as sentence-transformers; the same bits for every instruction set, tile and batch;
// memory for one row of weights per text instead of scores of all its tokens.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bantam/predict.h"
#include "bantam/session.h"
#include "golden/expected.h"
#include "golden/same_bits.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "pipeline/convert.h"

namespace bantam::golden::terms_test {
namespace {

constexpr const char* kModels[] = {"splade", "splade-sum"};
constexpr uint32_t kWords = 37, kPositions = 24;

convert::FileBytes file_of(const std::string& model, fb::DType type, const std::string& task = "") {
  convert::TypeOptions types;
  types.weights = type;
  types.small_matrix = 0;
  convert::ImportOptions options;
  options.task = task;
  return convert::build(convert::import_hugging_face(model_directory(model), options), types);
}

TEST(Terms, HaveTheSameBitsEverywhere) {
  std::vector<uint32_t> lengths;
  for (uint32_t i = 0; i < 23; ++i) lengths.push_back(1 + i * 7 % kPositions);
  const testing::Ids all = testing::random_ids(lengths, kWords, 1, 5);
  for (const char* model : kModels) {
    for (const fb::DType type : {fb::DType::f32, fb::DType::f16, fb::DType::i8, fb::DType::i4}) {
      SCOPED_TRACE(std::string(model) + ", " + fb::EnumNameDType(type));
      expect_same_bits(file_of(model, type), all);
    }
  }
}

TEST(Terms, AreThoseOfSentenceTransformers) {
  for (const char* model : kModels) {
    const auto path = std::filesystem::path(::testing::TempDir()) / (std::string(model) + ".bantam");
    convert::ConvertOptions options;
    options.source = model_directory(model);
    options.output = path;
    options.types.weights = fb::DType::f32;
    options.parity = "none";
    convert::convert(options);
    Predictor predictor;
    ASSERT_TRUE(bool(predictor.open(path.string(), {})));
    EXPECT_EQ(predictor.task(), "sparse_embed");
    std::ifstream lines(model_directory(model) / "terms.jsonl");
    size_t texts = 0;
    for (std::string line; std::getline(lines, line); ++texts) {
      const auto expected = nlohmann::json::parse(line);
      Prediction found;
      ASSERT_TRUE(bool(predictor.predict(expected["text"].get<std::string>(), &found)));
      ASSERT_EQ(found.terms.size(), expected["terms"].size()) << expected["text"];
      for (size_t i = 0; i < found.terms.size(); ++i) {
        EXPECT_EQ(found.terms[i].name, expected["terms"][i][0]) << expected["text"];
        EXPECT_NEAR(found.terms[i].score, expected["terms"][i][1].get<float>(), 2e-5) << expected["text"];
      }
    }
    EXPECT_EQ(texts, 4);
    std::filesystem::remove(path);
  }
}

TEST(Terms, TakeARowATextInsteadOfOneAToken) {
  SessionOptions options;
  options.max_tokens = kPositions;
  const auto arena = [&](const char* task) {
    const convert::FileBytes bytes = file_of("splade", fb::DType::i8, task);
    Model model;
    EXPECT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
    return arena_bytes(model, options);
  };
  const size_t row = (kWords + 15) / 16 * 16 * sizeof(float);
  // With only 37 words, the scratch memory for a block of scores is the larger part.
  EXPECT_LE(arena("sparse-embed"), arena("fill") - kPositions * row + 16 * row + 129 * 64 * sizeof(float) + 4096);
}

TEST(Terms, OfModelsThatFillInMasks) {
  const convert::FileBytes bytes = file_of("bert-fill", fb::DType::i8, "sparse-embed");
  Model model;
  ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
  EXPECT_EQ(model.task(), TaskKind::kSparseEmbed);
}

}  // namespace
}  // namespace bantam::golden::terms_test
