#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/import_fixture.h"
#include "import/hugging_face.h"

namespace bantam::convert::fixture {
namespace {

using nlohmann::json;

class Import : public ::testing::Test {
 protected:
  Graph import(const ImportOptions& options = {}) const {
    directory_.write_model(config_, tensors_);
    return import_hugging_face(directory_.path(), options);
  }
  std::string refused(ExitCode code, const ImportOptions& options = {}) const {
    return problems_of(code, [&] { import(options); });
  }
  static ImportOptions task(const std::string& name) {
    ImportOptions options;
    options.task = name;
    return options;
  }
  static bool noted(const Graph& graph, const std::string& part) {
    return std::any_of(graph.notes.begin(), graph.notes.end(),
                       [&](const std::string& note) { return note.find(part) != std::string::npos; });
  }
  static const fb::TensorT& tensor_of(const Graph& graph, const std::string& name, size_t* index = nullptr) {
    for (size_t i = 0; i < graph.model.tensors.size(); ++i) {
      if (graph.model.tensors[i]->name != name) continue;
      if (index != nullptr) *index = i;
      return *graph.model.tensors[i];
    }
    throw std::out_of_range(name);
  }

  Directory directory_;
  json config_ = tiny_config();
  TensorMap tensors_ = tiny_bert();
};

void expect_in(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST_F(Import, MakesACanonicalGraph) {
  const Graph graph = import();
  const fb::ModelT& model = graph.model;
  ASSERT_EQ(model.subgraphs.size(), 1U);
  EXPECT_TRUE(model.subgraphs[0]->steps.empty());
  EXPECT_EQ(model.tensors.size(), graph.constants.size());
  EXPECT_EQ(model.max_sequence, 6U);
  EXPECT_EQ(model.architecture, "BertForSequenceClassification");
  // Every tensor is written once, before it is read, as f32; constants have values for their shape, and other tensors
  // have none.
  std::vector<bool> written(model.tensors.size());
  for (size_t i = 0; i < model.tensors.size(); ++i) {
    const fb::TensorT& tensor = *model.tensors[i];
    EXPECT_EQ(tensor.type, fb::DType::f32) << tensor.name;
    EXPECT_EQ(tensor.role == fb::Role::constant, graph.constants[i] != nullptr) << tensor.name;
    if (!graph.constants[i]) continue;
    written[i] = true;
    size_t count = 1;
    for (const fb::Dim& dim : tensor.shape) count *= static_cast<size_t>(dim.b());
    EXPECT_EQ(graph.constants[i]->values.size(), count) << tensor.name;
    EXPECT_EQ(tensor.source_bytes, count * 4) << tensor.name;
    EXPECT_FALSE(tensor.source.empty()) << tensor.name;
  }
  for (const auto& op : model.subgraphs[0]->ops) {
    for (const int32_t read : op->inputs) EXPECT_TRUE(read < 0 || written[static_cast<size_t>(read)]) << op->name;
    for (const int32_t write : op->outputs) {
      if (write < 0) continue;
      EXPECT_FALSE(written[static_cast<size_t>(write)]) << op->name;
      written[static_cast<size_t>(write)] = true;
    }
  }
}

TEST_F(Import, PutsQueriesKeysAndValuesAboveEachOther) {
  size_t index = 0;
  const Graph graph = import();
  const fb::TensorT& weight = tensor_of(graph, "bert.encoder.layer.1.attention.self.qkv.weight", &index);
  EXPECT_EQ(weight.shape[0].b(), 24);
  EXPECT_EQ(weight.source, (std::vector<std::string>{"bert.encoder.layer.1.attention.self.query.weight",
                                                     "bert.encoder.layer.1.attention.self.key.weight",
                                                     "bert.encoder.layer.1.attention.self.value.weight"}));
  const auto& values = graph.constants[index]->values;
  EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 64),
            std::vector<float>(values.end() - 64, values.end()));
}

TEST_F(Import, FindsNamesUnderEveryPrefixAndLegacySpelling) {
  const TensorMap modern = tiny_bert();
  const TensorMap spellings[] = {
      renamed(modern, "bert.", ""),
      renamed(renamed(modern, "bert.", "module.bert."), "classifier.", "module.classifier."),
      renamed(renamed(modern, "LayerNorm.weight", "LayerNorm.gamma"), "LayerNorm.bias", "LayerNorm.beta"),
  };
  const Graph reference = import();
  for (const TensorMap& spelling : spellings) {
    tensors_ = spelling;
    const Graph graph = import();
    ASSERT_EQ(graph.constants.size(), reference.constants.size());
    for (size_t i = 0; i < graph.constants.size(); ++i) {
      EXPECT_EQ(graph.model.tensors[i]->name, reference.model.tensors[i]->name);
      if (!graph.constants[i]) continue;
      EXPECT_EQ(graph.constants[i]->values, reference.constants[i]->values);
    }
  }
}

TEST_F(Import, ListsAllMissingTensorsAtOnce) {
  tensors_.erase("bert.embeddings.LayerNorm.bias");
  tensors_.erase("bert.encoder.layer.1.attention.self.key.weight");
  tensors_.erase("classifier.bias");
  expect_in(refused(ExitCode::kInvalid), {"\"bert.embeddings.LayerNorm.bias\" is missing",
                                          "layer.1.attention.self.key.weight", "classifier.bias", "[8, 8]"});
}

TEST_F(Import, NamesTensorsOfAnotherShape) {
  tensors_["bert.encoder.layer.0.output.dense.weight"] = tensor({12, 8});
  tensors_["bert.pooler.dense.bias"] = tensor({8, 1});
  expect_in(refused(ExitCode::kInvalid), {"layer.0.output.dense.weight", "[12, 8]", "[8, 12]", "pooler.dense.bias"});
}

TEST_F(Import, NamesEveryTensorThatIsNotFinite) {
  const float bad = std::nanf("");
  for (const char* name : {"bert.embeddings.word_embeddings.weight", "classifier.weight"}) {
    std::memcpy(tensors_[name].bytes.data(), &bad, sizeof bad);
  }
  expect_in(refused(ExitCode::kInvalid),
            {"2 tensors: \"bert.embeddings.word_embeddings.weight\" and \"classifier.weight\": element 0 is NaN"});
}

TEST_F(Import, ListsSurplusTensorsWithAdvice) {
  tensors_["bert.encoder.layer.0.crossattention.self.query.weight"] = tensor({8, 8});
  tensors_["bert.encoder.layer.0.attention.self.query.lora_A.weight"] = tensor({2, 8});
  tensors_["something.else"] = tensor({1});
  expect_in(refused(ExitCode::kUnsupported), {"cross attention", "merge the adapters", "\"something.else\""});
}

TEST_F(Import, NotesWhatIsDroppedWithoutHarm) {
  tensors_["bert.embeddings.position_ids"] = {"I64", {1, 6}, std::vector<uint8_t>(48)};
  tensors_["cls.predictions.bias"] = tensor({10});
  tensors_["optimizer.state.exp_avg"] = tensor({1});
  const Graph graph = import();
  for (const char* name : {"position_ids", "cls.predictions.bias", "optimizer.state.exp_avg"}) {
    EXPECT_TRUE(noted(graph, name)) << name;
  }
}

TEST_F(Import, LayersMustAgree) {
  config_["num_hidden_layers"] = 3;
  expect_in(refused(ExitCode::kInvalid), {"3 layers", "hold 2"});
  config_["num_hidden_layers"] = 1000000000;
  expect_in(refused(ExitCode::kInvalid), {"num_hidden_layers"});
  config_ = tiny_config();
  tensors_ = renamed(tensors_, "encoder.layer", "blocks");
  expect_in(refused(ExitCode::kInvalid), {"no bert encoder"});
}

TEST_F(Import, ListsUnsupportedSettingsTogether) {
  config_["position_embedding_type"] = "relative_ramp";
  config_["is_decoder"] = true;
  config_["add_cross_attention"] = true;
  config_["hidden_act"] = "mish";
  config_["quantization_config"] = {{"bits", 4}};
  expect_in(refused(ExitCode::kUnsupported), {"position_embedding_type: \"relative_ramp\"", "is_decoder",
                                              "add_cross_attention", "\"mish\"", "quantization_config"});
}

TEST_F(Import, SettingsOfTheWrongKindAreInvalid) {
  config_["hidden_size"] = "eight";
  config_["vocab_size"] = -1;
  config_["layer_norm_eps"] = 0;
  config_["is_decoder"] = 3;
  config_["hidden_act"] = 4;
  expect_in(refused(ExitCode::kInvalid), {"hidden_size", "vocab_size", "layer_norm_eps", "is_decoder", "hidden_act"});
  config_ = tiny_config();
  config_["num_attention_heads"] = 3;
  expect_in(refused(ExitCode::kInvalid), {"num_attention_heads: 3 heads do not divide 8"});
}

TEST_F(Import, OtherModelTypesAndArchitecturesAreUnsupported) {
  config_["model_type"] = "distillbert";
  expect_in(
      refused(ExitCode::kUnsupported),
      {"model_type: \"distillbert\"", "the nearest that converts is \"distilbert\"", "bantam version --families"});
  for (const char* name :
       {"foo", "qwen9", "a_type_whose_name_is_longer_than_any_that_a_family_has_or_will_ever_have"}) {
    config_["model_type"] = name;
    const std::string message = refused(ExitCode::kUnsupported);
    EXPECT_LT(message.size(), 200U) << message;
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 0) << message;
    EXPECT_EQ(message.find("the nearest") != std::string::npos, name == std::string("qwen9")) << message;
  }
  config_["auto_map"] = {{"AutoModel", "modeling.Model"}};
  expect_in(refused(ExitCode::kUnsupported), {"auto_map", "never run"});
  config_.erase("model_type");
  expect_in(refused(ExitCode::kUnsupported), {"model_type"});
  config_ = tiny_config();
  config_["architectures"] = {"BertForWordOrders"};
  expect_in(refused(ExitCode::kUnsupported), {"BertForWordOrders", "--task"});
  EXPECT_EQ(import(task("classify")).model.task->kind, fb::TaskKind::classify);
}

TEST_F(Import, DirectoriesThatAreNone) {
  const auto say = [](const std::filesystem::path& path, ExitCode code) {
    return problems_of(code, [&] { import_hugging_face(path); });
  };
  expect_in(say(directory_.path() / "nowhere", ExitCode::kIo), {"no such directory"});
  directory_.write("file", "");
  expect_in(say(directory_.path() / "file", ExitCode::kIo), {"is not a kind of model"});
  expect_in(say(directory_.path(), ExitCode::kIo), {"config.json"});
  directory_.write("config.json", "{\"model_type\": \"bert\",");
  expect_in(say(directory_.path(), ExitCode::kInvalid), {"config.json", "not valid JSON"});
  directory_.write("config.json", "[]");
  expect_in(say(directory_.path(), ExitCode::kInvalid), {"config.json", "not a JSON object"});
  directory_.write("config.json", tiny_config().dump());
  expect_in(say(directory_.path(), ExitCode::kInvalid), {"model.safetensors"});
  std::filesystem::create_directory(directory_.path() / "model.safetensors");
  expect_in(say(directory_.path(), ExitCode::kIo), {"model.safetensors", "not a regular file"});
}

TEST_F(Import, KeepsOnlyThePositionsAskedFor) {
  ImportOptions options;
  options.max_tokens = 4;
  const Graph graph = import(options);
  EXPECT_EQ(graph.model.max_sequence, 4U);
  EXPECT_EQ(tensor_of(graph, "bert.embeddings.position_embeddings.weight").shape[0].b(), 4);
  options.max_tokens = 400;
  const Graph all = import(options);
  EXPECT_EQ(all.model.max_sequence, 6U);
  EXPECT_TRUE(noted(all, "6 positions"));
}

TEST_F(Import, SaysThatThereIsNoTokenizer) { EXPECT_TRUE(noted(import(), "no tokenizer")); }

TEST_F(Import, ATokenizerOfAnotherKindIsUnsupportedABrokenOneInvalid) {
  json tokenizer = {{"model", {{"type", "Klingon"}, {"vocab", json::object()}}},
                    {"pre_tokenizer", {{"type", "Metaspace"}}}};
  directory_.write("tokenizer.json", tokenizer.dump());
  expect_in(refused(ExitCode::kUnsupported), {"\"Klingon\" is not supported", "\"Metaspace\" is not supported"});
  tokenizer["added_tokens"] = 3;
  directory_.write("tokenizer.json", tokenizer.dump());
  expect_in(refused(ExitCode::kInvalid), {"\"Klingon\" is not supported", "added_tokens"});
}

TEST_F(Import, IdsOnlyLeavesAnyTokenizerOut) {
  directory_.write("tokenizer.tiktoken", "");
  expect_in(refused(ExitCode::kUnsupported), {"tokenizer.tiktoken", "--ids-only"});
  ImportOptions options;
  options.ids_only = true;
  EXPECT_TRUE(import(options).model.tokenizers.empty());
}

TEST_F(Import, LabelsComeInOrderOfTheirIndex) {
  config_["id2label"] = {{"2", "c"}, {"0", "a"}, {"1", "b"}};
  const Graph graph = import();
  EXPECT_EQ(graph.model.task->label_sets[0]->labels, (std::vector<std::string>{"a", "b", "c"}));
  config_.erase("id2label");
  EXPECT_EQ(import().model.task->label_sets[0]->labels, (std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"}));
  config_["id2label"] = {{"0", "a"}, {"1", "b"}};
  expect_in(refused(ExitCode::kInvalid), {"id2label", "2 labels", "3 outputs"});
  config_["id2label"] = {{"0", "a"}, {"1", "b"}, {"3", "c"}};
  expect_in(refused(ExitCode::kInvalid), {"id2label", "index 2"});
}

TEST_F(Import, ProblemTypeDecidesTheTask) {
  EXPECT_EQ(import().model.task->kind, fb::TaskKind::classify);
  config_["problem_type"] = "multi_label_classification";
  EXPECT_EQ(import().model.task->kind, fb::TaskKind::multi_label);
  config_["problem_type"] = "regression";
  EXPECT_EQ(import().model.task->kind, fb::TaskKind::regress);
  config_.erase("problem_type");
  tensors_["classifier.weight"] = tensor({1, 8});
  tensors_["classifier.bias"] = tensor({1});
  EXPECT_EQ(import().model.task->kind, fb::TaskKind::regress);
}

TEST_F(Import, TheTaskCanBeNamed) {
  EXPECT_EQ(import(task("encoder")).model.outputs.size(), 2U);
  const Graph tags = import(task("tag"));
  EXPECT_EQ(tags.model.task->kind, fb::TaskKind::tag);
  EXPECT_TRUE(noted(tags, "pooler"));
  EXPECT_TRUE(noted(import(task("embed")), "mean-pooled"));
  expect_in(refused(ExitCode::kInvalid, task("answer")), {"\"qa_outputs.weight\" is missing"});
  expect_in(refused(ExitCode::kUsage, task("translate")), {"--task translate"});
}

TEST_F(Import, WithoutAnArchitectureTheTensorsDecide) {
  config_.erase("architectures");
  EXPECT_EQ(import().model.task->kind, fb::TaskKind::classify);
  tensors_.erase("bert.pooler.dense.weight");
  tensors_.erase("bert.pooler.dense.bias");
  EXPECT_EQ(import().model.task->kind, fb::TaskKind::tag);
  tensors_.erase("classifier.weight");
  tensors_.erase("classifier.bias");
  EXPECT_EQ(import().model.task->kind, fb::TaskKind::none);
  tensors_["qa_outputs.weight"] = tensor({2, 8});
  tensors_["qa_outputs.bias"] = tensor({2});
  EXPECT_EQ(import().model.task->kind, fb::TaskKind::answer);
}

TEST_F(Import, TheModelCardGoesIntoTheModel) {
  directory_.write("README.md",
                   "---\nlicense: mit\ndatasets:\n- rajpurkar/squad_v2\n---\n# Finder\n\nFinds answers.\n");
  config_["architectures"] = {"BertForQuestionAnswering"};
  tensors_["qa_outputs.weight"] = tensor({2, 8});
  tensors_["qa_outputs.bias"] = tensor({2});
  const Graph graph = import();
  EXPECT_EQ(graph.model.licence, "mit");
  EXPECT_EQ(graph.model.name, "Finder");
  EXPECT_EQ(graph.model.description, "Finds answers.");
  EXPECT_TRUE(graph.model.task->no_answer);
  std::vector<std::string> keys;
  for (const auto& property : graph.model.properties) keys.push_back(property->key);
  for (const char* key : {"source.config.json.sha256", "source.model.safetensors.sha256", "card.datasets"}) {
    EXPECT_EQ(std::count(keys.begin(), keys.end(), key), 1) << key;
  }
}

class MaskedLanguage : public Import {
 protected:
  MaskedLanguage() {
    config_["architectures"] = {"BertForMaskedLM"};
    for (const char* name : {"classifier.weight", "classifier.bias"}) tensors_.erase(name);
    tensors_["cls.predictions.transform.dense.weight"] = tensor({8, 8});
    tensors_["cls.predictions.transform.dense.bias"] = tensor({8});
    tensors_["cls.predictions.transform.LayerNorm.gamma"] = tensor({8});
    tensors_["cls.predictions.transform.LayerNorm.beta"] = tensor({8});
    tensors_["cls.predictions.bias"] = tensor({10});
  }
  static int32_t output_weight(const Graph& graph) { return graph.model.subgraphs[0]->ops.back()->inputs[1]; }
};

TEST_F(MaskedLanguage, TheOutputLayerIsTheEmbeddingTable) {
  const Graph absent = import();
  EXPECT_EQ(absent.model.tensors[static_cast<size_t>(output_weight(absent))]->name,
            "bert.embeddings.word_embeddings.weight");
  EXPECT_TRUE(absent.constants[static_cast<size_t>(output_weight(absent))]->linear_weight);
  tensors_["cls.predictions.decoder.weight"] = tensors_["bert.embeddings.word_embeddings.weight"];
  tensors_["cls.predictions.decoder.bias"] = tensors_["cls.predictions.bias"];
  EXPECT_EQ(output_weight(import()), output_weight(absent));
}

TEST_F(MaskedLanguage, AnotherMatrixIsKept) {
  tensors_["cls.predictions.decoder.weight"] = tensor({10, 8});
  tensors_["cls.predictions.decoder.weight"].bytes[3] ^= 1;
  const Graph graph = import();
  EXPECT_EQ(graph.model.tensors[static_cast<size_t>(output_weight(graph))]->name, "cls.predictions.decoder.weight");
  EXPECT_TRUE(noted(graph, "differs from the word embeddings"));
  tensors_.erase("cls.predictions.decoder.weight");
  config_["tie_word_embeddings"] = false;
  expect_in(refused(ExitCode::kInvalid), {"\"cls.predictions.decoder.weight\" is missing"});
}

}  // namespace
}  // namespace bantam::convert::fixture
