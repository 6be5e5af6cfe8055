// Small parts of the importer: tag schemes, model cards, digests, sentence-transformers folders.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/sha256.h"
#include "converter/import_fixture.h"
#include "import/hugging_face.h"
#include "source/labels.h"
#include "source/model_card.h"

namespace bantam::convert::fixture {
namespace {

using nlohmann::json;

TEST(TagScheme, IsGuessedFromTheLabels) {
  const std::pair<std::vector<std::string>, fb::TagScheme> cases[] = {
      {{"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}, fb::TagScheme::iob2},
      {{"O", "B-PER", "I-PER", "B-LOC"}, fb::TagScheme::iob2},
      {{"O", "B-PER"}, fb::TagScheme::iob2},
      {{"O", "I-PER", "I-LOC"}, fb::TagScheme::iob1},
      {{"O", "B-PER", "I-PER", "I-LOC"}, fb::TagScheme::iob1},
      {{"O", "B-PER", "I-PER", "E-PER", "S-PER"}, fb::TagScheme::bioes},
      {{"O", "B-PER", "I-PER", "L-PER", "U-PER"}, fb::TagScheme::bioes},
      {{"NOUN", "VERB", "X"}, fb::TagScheme::plain},
      {{"LABEL_0", "LABEL_1"}, fb::TagScheme::plain},
      {{"S-bar", "NP"}, fb::TagScheme::plain},
      {{}, fb::TagScheme::plain},
  };
  for (const auto& [labels, scheme] : cases) {
    EXPECT_EQ(guess_tag_scheme(labels), scheme) << json(labels).dump();
  }
}

TEST(TagScheme, CanBeNamed) {
  EXPECT_EQ(parse_tag_scheme("iob1"), fb::TagScheme::iob1);
  EXPECT_EQ(parse_tag_scheme("bilou"), fb::TagScheme::bioes);
  problems_of(ExitCode::kUsage, [] { parse_tag_scheme("iob3"); });
}

TEST(ModelCard, ReadsFrontMatterAndTheFirstParagraph) {
  const ModelCard card = parse_model_card(
      "---\r\nlicense: apache-2.0\nlanguage:\n- en\n- \"de\"\ndatasets: [sst2, 'glue']\nmodel-index:\n- name: other\n"
      "  results:\n  - task: x\n---\n\n# A model\n\n<img src=x>\n[![badge](b)](c)\n\nIt tells good\nfrom "
      "bad.\n\nMore.\n");
  EXPECT_EQ(card.licence, "apache-2.0");
  EXPECT_EQ(card.name, "A model");
  EXPECT_EQ(card.description, "It tells good from bad.");
  EXPECT_EQ(card.fields, (std::map<std::string, std::string>{{"language", "en, de"}, {"datasets", "sst2, glue"}}));
}

TEST(ModelCard, NeverFails) {
  EXPECT_EQ(parse_model_card("").name, "");
  EXPECT_EQ(parse_model_card("---\nlicense: mit\n").licence, "");  // not closed
  EXPECT_EQ(parse_model_card("---\n:\n- \n[\nlicense\n---\n").licence, "");
  EXPECT_EQ(parse_model_card("---\nmodel_name: 'x'\n---\n# y").name, "x");
  const std::string long_text(5000, 'a');
  EXPECT_EQ(parse_model_card(long_text).description.size(), 400U);
  std::string accents;
  for (int i = 0; i < 400; ++i) accents += "\xC3\xA9";
  EXPECT_EQ(parse_model_card("a" + accents).description.size(), 399U);  // cut between characters
}

TEST(Sha256, EqualsThePublishedExamples) {
  const auto digest = [](const std::string& text) {
    Sha256 hash;
    hash.update(text.data(), text.size());
    return hash.finish();
  };
  // Examples of FIPS 180-4, and "a" a million times.
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // In pieces of every size, the result is the same.
  const std::string text(200, 'x');
  for (size_t piece = 1; piece < 130; ++piece) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += piece) hash.update(text.data() + at, std::min(piece, text.size() - at));
    ASSERT_EQ(hash.finish(), digest(text)) << piece;
  }
}

class SentenceTransformers : public ::testing::Test {
 protected:
  SentenceTransformers() {
    config_["architectures"] = {"BertModel"};
    for (const char* name : {"classifier.weight", "classifier.bias"}) tensors_.erase(name);
    write("1_Pooling/config.json", {{"word_embedding_dimension", 8}, {"pooling_mode_mean_tokens", true}});
  }
  void write(const std::string& name, const json& value) const { directory_.write(name, value.dump()); }
  static json module(const std::string& type, const std::string& path) {
    return {{"type", "sentence_transformers.models." + type}, {"path", path}};
  }
  Graph import(const json& modules) const {
    write("modules.json", modules);
    directory_.write_model(config_, tensors_);
    return import_hugging_face(directory_.path());
  }
  std::string refused(ExitCode code, const json& modules) const {
    return problems_of(code, [&] { import(modules); });
  }
  static const fb::PoolT& pool(const Graph& graph) {
    return *graph.model.subgraphs[0]->ops.back()->attributes.AsPool();
  }

  Directory directory_;
  json config_ = tiny_config();
  TensorMap tensors_ = tiny_bert();
  const json transformer_ = module("Transformer", "");
  const json pooling_ = module("Pooling", "1_Pooling");
};

TEST_F(SentenceTransformers, PoolsAsTheModulesSay) {
  const Graph plain = import({transformer_, pooling_});
  EXPECT_EQ(plain.model.task->kind, fb::TaskKind::embed);
  EXPECT_EQ(plain.model.outputs[0]->name, "sentence_embedding");
  EXPECT_EQ(pool(plain).kind, fb::PoolKind::mean);
  EXPECT_FALSE(pool(plain).l2);
  EXPECT_TRUE(pool(import({transformer_, pooling_, module("Normalize", "2_Normalize")})).l2);
  for (const auto& [mode, kind] : {std::pair("cls", fb::PoolKind::first),
                                   {"max", fb::PoolKind::max},
                                   {"mean", fb::PoolKind::mean},
                                   {"lasttoken", fb::PoolKind::last}}) {
    write("1_Pooling/config.json", {{"pooling_mode", mode}});
    EXPECT_EQ(pool(import({transformer_, pooling_})).kind, kind) << mode;
  }
}

std::string property(const Graph& graph, const std::string& key) {
  for (const auto& one : graph.model.properties) {
    if (one->key == key) return one->value;
  }
  return "";
}

TEST_F(SentenceTransformers, TakesTheDefaultPrompt) {
  write("config_sentence_transformers.json",
        {{"prompts", {{"query", "query: "}, {"document", "text: "}}}, {"default_prompt_name", "query"}});
  const Graph graph = import({transformer_, pooling_});
  EXPECT_EQ(graph.model.task->prompt, "query: ");
  EXPECT_EQ(property(graph, "prompt.query"), "");  // the default one is not stored
  EXPECT_EQ(property(graph, "prompt.document"), "text: ");
}

TEST_F(SentenceTransformers, KeepsPromptsOfQueriesAndDocuments) {
  write("config_sentence_transformers.json",
        {{"prompts", {{"passage", "passage: "}, {"corpus", "corpus: "}, {"other", "other: "}}}});
  const Graph graph = import({transformer_, pooling_});
  EXPECT_EQ(graph.model.task->prompt, "");
  EXPECT_EQ(property(graph, "prompt.query"), "");
  EXPECT_EQ(property(graph, "prompt.document"), "passage: ");
  const auto& notes = graph.notes;
  const auto says = [&notes](const char* words) {
    return std::any_of(notes.begin(), notes.end(),
                       [words](const std::string& note) { return note.find(words) != std::string::npos; });
  };
  EXPECT_TRUE(says("\"other\"") && says("\"corpus\""));
}

TEST_F(SentenceTransformers, TruncatesVectorsAndNamesTheirSimilarity) {
  write("config_sentence_transformers.json", {{"truncate_dim", 3}, {"similarity_fn_name", "dot_score"}});
  const Graph graph = import({transformer_, pooling_, module("Normalize", "2_Normalize")});
  EXPECT_EQ(graph.model.tensors.at(static_cast<size_t>(graph.model.outputs.at(0)->tensor))->shape.at(1).b(), 3);
  EXPECT_EQ(property(graph, "similarity"), "dot");
  write("config_sentence_transformers.json", {{"similarity_fn_name", "other"}});
  EXPECT_NE(refused(ExitCode::kUnsupported, json::array({transformer_, pooling_})).find("similarity_fn_name"),
            std::string::npos);
}

TEST_F(SentenceTransformers, RefusesWhatItCannotExpress) {
  EXPECT_NE(refused(ExitCode::kUnsupported, {transformer_, pooling_, module("LSTM", "2_LSTM")}).find("LSTM"),
            std::string::npos);
  EXPECT_NE(refused(ExitCode::kUnsupported, json::array({transformer_})).find("no Pooling"), std::string::npos);
  EXPECT_NE(refused(ExitCode::kUnsupported, json::array({pooling_})).find("neither a Transformer"), std::string::npos);
  write("1_Pooling/config.json", {{"pooling_mode_mean_tokens", true}, {"pooling_mode_max_tokens", true}});
  EXPECT_NE(refused(ExitCode::kUnsupported, {transformer_, pooling_}).find("2 modes"), std::string::npos);
  write("1_Pooling/config.json", {{"pooling_mode_weightedmean_tokens", true}});
  EXPECT_NE(refused(ExitCode::kUnsupported, {transformer_, pooling_}).find("weightedmean"), std::string::npos);
}

TEST_F(SentenceTransformers, RefusesMalformedModules) {
  refused(ExitCode::kInvalid, json::object());
  refused(ExitCode::kInvalid, json::array());
  refused(ExitCode::kInvalid, {transformer_, 3});
  EXPECT_NE(refused(ExitCode::kInvalid, json::array({module("Transformer", "../elsewhere")})).find("leaves"),
            std::string::npos);
  EXPECT_NE(refused(ExitCode::kInvalid, json::array({module("Transformer", "/etc")})).find("leaves"),
            std::string::npos);
}

TEST_F(SentenceTransformers, ReadsDenseModules) {
  json settings = {{"in_features", 8},
                   {"out_features", 5},
                   {"bias", false},
                   {"activation_function", "torch.nn.modules.linear.Identity"}};
  write("2_Dense/config.json", settings);
  directory_.write("2_Dense/model.safetensors", safetensors_bytes({{"linear.weight", tensor({5, 8})}}));
  const json modules = {transformer_, pooling_, module("Dense", "2_Dense")};
  const Graph graph = import(modules);
  const fb::OpT& dense = *graph.model.subgraphs[0]->ops.back();
  EXPECT_EQ(dense.inputs[2], -1);
  EXPECT_EQ(dense.epilogue->activation, fb::ActivationKind::none);
  settings["out_features"] = 6;
  write("2_Dense/config.json", settings);
  EXPECT_NE(refused(ExitCode::kInvalid, modules).find("linear.weight"), std::string::npos);
}

}  // namespace
}  // namespace bantam::convert::fixture
