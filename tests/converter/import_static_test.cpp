// Directories of static embeddings, and files with another family's model_type.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "converter/import_fixture.h"
#include "import/hugging_face.h"
#include "network/family.h"

namespace bantam::convert::fixture {
namespace {

using nlohmann::json;

constexpr uint64_t kTokens = 6, kTableRows = 4, kWidth = 3;

template <typename T>
TensorData numbers(const char* dtype, std::vector<uint64_t> shape, const std::vector<T>& values) {
  TensorData out;
  out.dtype = dtype;
  out.shape = std::move(shape);
  out.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

/// Six tokens that share four rows, each with its own weight; token 1 is unknown.
TensorMap mapped() {
  TensorMap tensors;
  tensors["embeddings"] = numbers<int8_t>("I8", {kTableRows, kWidth}, {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -127, 127});
  tensors["mapping"] = numbers<int64_t>("I64", {kTokens}, {0, 1, 2, 3, 0, 1});
  tensors["weights"] = numbers<double>("F64", {kTokens}, {1, 2, 0.5, 1, -1, 3});
  return tensors;
}

const json kTokenizer = {{"version", "1.0"},
                         {"normalizer", nullptr},
                         {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                         {"post_processor", nullptr},
                         {"model",
                          {{"type", "WordPiece"},
                           {"unk_token", "[UNK]"},
                           {"continuing_subword_prefix", "##"},
                           {"max_input_chars_per_word", 100},
                           {"vocab", {{"[PAD]", 0}, {"[UNK]", 1}, {"a", 2}, {"b", 3}, {"##c", 4}, {"d", 5}}}}}};

class StaticEmbeddings : public ::testing::Test {
 protected:
  Graph import(const json& config, const TensorMap& tensors) {
    directory_.write_model(config, tensors);
    directory_.write("tokenizer.json", kTokenizer.dump());
    return import_hugging_face(directory_.path());
  }
  void expect_refused(const TensorMap& tensors, const std::string& words) {
    const std::string problems = problems_of(ExitCode::kInvalid, [&] { import(json::object(), tensors); });
    EXPECT_NE(problems.find(words), std::string::npos) << problems;
  }
  static const std::vector<float>& table(const Graph& graph) { return graph.constants.front()->values; }

  Directory directory_;
};

TEST_F(StaticEmbeddings, AreARowATokenOfWhatTheyShare) {
  const Graph graph = import({{"normalize", true}}, mapped());
  const std::vector<float> expected = {1,    2, 3,   0,  0,    0,  // unknown: model2vec omits it
                                       3.5F, 4, 4.5, -1, -127, 127, -1, -2, -3, 12, 15, 18};
  EXPECT_EQ(table(graph), expected);
  EXPECT_EQ(graph.model.max_sequence, 512U);
  EXPECT_EQ(graph.model.task->kind, fb::TaskKind::embed);
  const fb::TokenizerT& tokenizer = *graph.model.tokenizers.at(0);
  EXPECT_EQ(tokenizer.single.size(), 1U);
  EXPECT_EQ(tokenizer.max_length, 512U);
  const fb::OpT& pool = *graph.model.subgraphs.at(0)->ops.back();
  EXPECT_EQ(pool.attributes.AsPool()->kind, fb::PoolKind::mean);
  EXPECT_TRUE(pool.attributes.AsPool()->l2);
}

TEST_F(StaticEmbeddings, GoByTheirSettings) {
  const Graph graph = import({{"model_type", "model2vec"}, {"max_length", 40}}, mapped());
  EXPECT_EQ(graph.model.max_sequence, 40U);
  EXPECT_FALSE(graph.model.subgraphs.at(0)->ops.back()->attributes.AsPool()->l2);
  EXPECT_EQ(import({{"max_length", nullptr}}, mapped()).model.max_sequence, 8192U);
}

TEST_F(StaticEmbeddings, OfSentenceTransformersKeepTheUnknownToken) {
  directory_.write("modules.json",
                   json({{{"idx", 0}, {"path", ""}, {"type", "sentence_transformers.models.StaticEmbedding"}},
                         {{"idx", 1}, {"path", "1"}, {"type", "sentence_transformers.models.Normalize"}}})
                       .dump());
  TensorMap tensors;
  tensors["embedding.weight"] = tensor({kTokens, kWidth});
  const Graph graph = import(json::object(), tensors);
  EXPECT_NE(table(graph).at(kWidth), 0.0F);
  EXPECT_TRUE(graph.model.subgraphs.at(0)->ops.back()->attributes.AsPool()->l2);
}

TEST_F(StaticEmbeddings, NamesWhatIsWrong) {
  TensorMap tensors = mapped();
  tensors["mapping"] = numbers<int64_t>("I64", {kTokens}, {0, 1, 2, 4, 0, 1});
  expect_refused(tensors, "tensor \"mapping\": token 3 has row 4 of a table of 4");
  tensors["mapping"] = numbers<int64_t>("I64", {kTokens}, {0, 1, -1, 1, 0, 1});
  expect_refused(tensors, "token 2 has row -1");
  tensors["mapping"] = numbers<uint8_t>("U8", {kTokens}, {0, 1, 2, 3, 0, 1});
  expect_refused(tensors, "type U8");
  tensors = mapped();
  tensors["weights"] = numbers<double>("F64", {2}, {1, 2});
  expect_refused(tensors, "tensor \"weights\": holds 2 numbers, of 6 tokens");
  tensors["weights"] = numbers<double>("F64", {kTokens}, {1, 1, std::numeric_limits<double>::infinity(), 1, 1, 1});
  expect_refused(tensors, "token 2 has no finite weight");
  tensors = mapped();
  tensors["embeddings"] = numbers<int8_t>("I8", {3}, {1, 2, 3});
  expect_refused(tensors, "is not a matrix of a row a token");
  tensors["embeddings"] = numbers<int8_t>("I8", {0, 3}, {});
  expect_refused(tensors, "is not a matrix of a row a token");
}

/// Files that SetFit and ColBERT write beside the modules of sentence-transformers.
class BesideModules : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_.write_model(tiny_config(), tiny_bert());
    write_modules({"Transformer", "Pooling"});
    directory_.write("config.json", tiny_config().dump());
  }
  void write_modules(const std::vector<std::string>& kinds) {
    json modules = json::array();
    for (const std::string& kind : kinds) {
      modules.push_back(
          {{"path", kind == "Pooling" ? "1_Pooling" : ""}, {"type", "sentence_transformers.models." + kind}});
    }
    directory_.write("modules.json", modules.dump());
    std::filesystem::create_directories(directory_.path() / "1_Pooling");
    directory_.write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens": true})");
  }
  void write_head(const std::vector<double>& coef, uint64_t rows, const json& classes) {
    TensorMap head;
    head["coef"] = numbers<double>("F64", {rows, coef.size() / rows}, coef);
    head["intercept"] = numbers<double>("F64", {rows}, std::vector<double>(static_cast<size_t>(rows), 0.5));
    std::map<std::string, std::string> metadata;
    if (!classes.is_null()) metadata["classes"] = classes.dump();
    directory_.write("model_head.safetensors", safetensors_bytes(head, metadata));
  }
  std::vector<std::string> labels() {
    return import_hugging_face(directory_.path()).model.task->label_sets.front()->labels;
  }
  std::string refused(ExitCode code, const ImportOptions& options = {}) {
    return problems_of(code, [&] { import_hugging_face(directory_.path(), options); });
  }

  Directory directory_;
};

TEST_F(BesideModules, APickledHeadIsRefusedWithTheNextStep) {
  directory_.write("model_head.pkl", "never read");
  const std::string problems = refused(ExitCode::kUnsupported);
  EXPECT_NE(problems.find("model_head.pkl: a pickle, which is never executed"), std::string::npos) << problems;
  EXPECT_NE(problems.find("--task embed"), std::string::npos) << problems;
  ImportOptions options;
  options.task = "embed";
  EXPECT_EQ(import_hugging_face(directory_.path(), options).model.task->kind, fb::TaskKind::embed);
}

TEST_F(BesideModules, APickledHeadIsToldByTheClassThatItNames) {
  const auto said = [this](const std::string& pickle) {
    directory_.write("model_head.pkl", pickle);
    return refused(ExitCode::kUnsupported);
  };
  const std::string regression = said("\x80\x04\x95sklearn.linear_model._logistic\x94\x8c\x12LogisticRegression");
  EXPECT_NE(regression.find("h.coef_"), std::string::npos) << regression;
  const std::string layer = said("\x80\x04\x95setfit.modeling\x94\x8c\nSetFitHead");
  EXPECT_NE(layer.find("l.weight.data / t"), std::string::npos) << layer;
  EXPECT_EQ(layer.find("h.coef_"), std::string::npos) << layer;
  for (const std::string several : {"OneVsRestClassifier", "MultiOutputClassifier", "ClassifierChain"}) {
    const std::string problem = said("\x80\x04\x95sklearn\x94\x8c\x13" + several);
    EXPECT_NE(problem.find("it is a " + several), std::string::npos) << problem;
    EXPECT_EQ(problem.find("python -c"), std::string::npos) << problem;
    EXPECT_NE(problem.find("--task embed"), std::string::npos) << problem;
  }
}

TEST_F(BesideModules, HeadsOfOneRowHaveTwoLabels) {
  write_head({1, 2, 3, 4, 5, 6, 7, 8}, 1, {0, 1});
  directory_.write("config_setfit.json", R"({"labels": ["no", "yes"], "normalize_embeddings": true})");
  const Graph graph = import_hugging_face(directory_.path());
  EXPECT_EQ(graph.model.task->kind, fb::TaskKind::classify);
  EXPECT_EQ(graph.model.task->label_sets.front()->labels, (std::vector<std::string>{"no", "yes"}));
  const auto& ops = graph.model.subgraphs.at(0)->ops;
  EXPECT_TRUE(ops.at(ops.size() - 2)->attributes.AsPool()->l2);
  const auto weight = static_cast<size_t>(ops.back()->inputs.at(1));
  EXPECT_EQ(graph.constants[weight]->values, (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(BesideModules, ClassesNameTheScores) {
  const std::vector<double> row = {1, 2, 3, 4, 5, 6, 7, 8};
  directory_.write("config_setfit.json", R"({"labels": ["yes", "no"]})");  // in the order of training
  write_head(row, 1, {"no", "yes"});
  EXPECT_EQ(labels(), (std::vector<std::string>{"no", "yes"}));
  write_head(row, 1, {0, 1});
  EXPECT_EQ(labels(), (std::vector<std::string>{"yes", "no"}));
  directory_.write("config_setfit.json", "{}");
  EXPECT_EQ(labels(), (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
}

TEST_F(BesideModules, HeadsThatDoNotSayTheirLabelsAreRefused) {
  const std::vector<double> row = {1, 2, 3, 4, 5, 6, 7, 8};
  write_head({1, 2, 3, 4}, 1, {0, 1});
  EXPECT_NE(refused(ExitCode::kInvalid).find("\"coef\""), std::string::npos);
  write_head(row, 1, nullptr);
  const std::string without = refused(ExitCode::kInvalid);
  EXPECT_NE(without.find("has no \"classes\""), std::string::npos) << without;
  EXPECT_NE(without.find("ascontiguousarray"), std::string::npos) << without;
  for (const json& classes : {json{0}, json{0, 1, 2}, json{0, -1}, json{0, 0.5}, json::object()}) {
    write_head(row, 1, classes);
    EXPECT_NE(refused(ExitCode::kInvalid).find("does not list 2 texts or numbers"), std::string::npos) << classes;
  }
  write_head(row, 1, {0, 1});
  directory_.write("config_setfit.json", R"({"labels": ["one"]})");
  EXPECT_NE(refused(ExitCode::kInvalid).find("names 1 labels, but the head has a class 1"), std::string::npos);
}

TEST_F(BesideModules, VectorsATokenNeedTheirLayer) {
  std::filesystem::remove(directory_.path() / "modules.json");
  json config = tiny_config();
  config["architectures"] = {"HF_ColBERT"};
  directory_.write("config.json", config.dump());
  ImportOptions options;
  EXPECT_NE(refused(ExitCode::kInvalid, options).find("\"linear.weight\" is missing"), std::string::npos);
  directory_.write("config.json", tiny_config().dump());
  options.task = "token-vectors";  // the encoder's own rows
  const Graph graph = import_hugging_face(directory_.path(), options);
  EXPECT_EQ(graph.model.task->kind, fb::TaskKind::token_vectors);
  EXPECT_EQ(graph.model.outputs.front()->role, fb::OutputRole::token_embeddings);
}

TEST(Published, FamiliesAreToldBySettingsAndTensors) {
  const json config = {{"model_type", "bert"}, {"position_embedding_type", "alibi"}};
  const std::vector<std::string> tensors = {"embeddings.LayerNorm.bias", "encoder.layer.0.mlp.gated_layers.weight"};
  ASSERT_NE(find_published(config, tensors), nullptr);
  EXPECT_EQ(find_published(config, tensors)->model_types.front(), std::string("jina_bert"));
  EXPECT_EQ(find_published(config, {tensors.front()}), nullptr);
  EXPECT_EQ(find_published({{"model_type", "bert"}, {"position_embedding_type", "absolute"}}, tensors), nullptr);
  EXPECT_EQ(find_published({{"model_type", 3}, {"position_embedding_type", "alibi"}}, tensors), nullptr);
  EXPECT_EQ(find_published({{"model_type", "roberta"}, {"position_embedding_type", "alibi"}}, tensors), nullptr);
}

}  // namespace
}  // namespace bantam::convert::fixture
