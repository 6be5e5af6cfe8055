// LoRA adapters beside a model, compared with PEFT's formulas; and adapters that are refused by name.
#include "source/adapter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "converter/import_fixture.h"

namespace bantam::convert::fixture {
namespace {

using nlohmann::json;

constexpr const char* kPrefix = "base_model.model.";

TensorData floats_of(std::vector<uint64_t> shape, const std::vector<float>& values) {
  TensorData out;
  out.dtype = "F32";
  out.shape = std::move(shape);
  out.bytes.resize(values.size() * sizeof(float));
  std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

/// A layer "bert.query" with two inputs and three outputs, and an adapter of rank 1.
class Adapter : public ::testing::Test {
 protected:
  void SetUp() override {
    adapter_["base_model.model.bert.query.lora_A.weight"] = floats_of({1, 2}, {1, 2});
    adapter_["base_model.model.bert.query.lora_B.weight"] = floats_of({3, 1}, {1, 0, -1});
  }
  json settings() const { return {{"peft_type", "LORA"}, {"r", 1}, {"lora_alpha", 4}}; }

  std::vector<float> merged(const json& settings, const std::string& tensor = "bert.query.weight") {
    directory_.write("adapter_config.json", settings.dump());
    directory_.write("adapter_model.safetensors", safetensors_bytes(adapter_));
    Checkpoint checkpoint(model_);
    const convert::Directory files(directory_.path());
    merge_adapter(files, "", config_, &checkpoint);
    return checkpoint.read(tensor);
  }
  void expect_refused(ExitCode code, const json& settings, const std::string& words) {
    const std::string problems = problems_of(code, [&] { merged(settings); });
    EXPECT_NE(problems.find(words), std::string::npos) << problems;
  }

  Directory directory_;
  json config_ = json::object();
  std::map<std::string, MemoryTensor> model_ = {{"bert.query.weight", {{3, 2}, {1, 2, 3, 4, 5, 6}}},
                                                {"bert.query.bias", {{3}, {7, 8, 9}}},
                                                {"bert.key.weight", {{2, 3}, {1, 2, 3, 4, 5, 6}}}};
  TensorMap adapter_;
};

TEST_F(Adapter, AddsTheScaledProduct) { EXPECT_EQ(merged(settings()), (std::vector<float>{5, 10, 3, 4, 1, -2})); }

TEST_F(Adapter, RankStabilisedScalesDivideByTheRoot) {
  adapter_["base_model.model.bert.query.lora_A.weight"] = floats_of({4, 2}, {1, 2, 0, 0, 0, 0, 0, 0});
  adapter_["base_model.model.bert.query.lora_B.weight"] = floats_of({3, 4}, {1, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0});
  json stable = settings();
  stable["use_rslora"] = true;
  EXPECT_EQ(merged(stable), (std::vector<float>{3, 6, 3, 4, 3, 2}));
  EXPECT_EQ(merged(settings()), (std::vector<float>{2, 4, 3, 4, 4, 4}));
}

TEST_F(Adapter, AModuleHasItsOwnAlpha) {
  json own = settings();
  own["alpha_pattern"] = {{"query", 1}};
  EXPECT_EQ(merged(own), (std::vector<float>{2, 4, 3, 4, 4, 4}));
  own["alpha_pattern"] = {{"other", 1}};
  EXPECT_EQ(merged(own), (std::vector<float>{5, 10, 3, 4, 1, -2}));
  own["alpha_pattern"] = {{"^bert.*", 1}};
  expect_refused(ExitCode::kUnsupported, own, "alpha_pattern");
}

TEST_F(Adapter, DoraGivesRowsTheirLength) {
  adapter_["base_model.model.bert.query.lora_magnitude_vector"] = floats_of({3}, {1, 2, 3});
  json dora = settings();
  dora["use_dora"] = true;
  const std::vector<float> rows = merged(dora), plain = {5, 10, 3, 4, 1, -2};
  for (size_t row = 0; row < 3; ++row) {
    const float length = std::hypot(plain[2 * row], plain[2 * row + 1]);
    for (size_t i = 2 * row; i < 2 * row + 2; ++i) {
      EXPECT_NEAR(rows[i], plain[i] / length * static_cast<float>(row + 1), 1e-6F);
    }
  }
  expect_refused(ExitCode::kUnsupported, settings(), "use_dora is false");
}

TEST_F(Adapter, MatricesWithInputsAsRowsAreTurned) {
  // Conv1D of GPT-2 stores [inputs, outputs].
  adapter_ = {{"base_model.model.bert.key.lora_A.weight", floats_of({1, 2}, {1, 2})},
              {"base_model.model.bert.key.lora_B.weight", floats_of({3, 1}, {1, 0, -1})}};
  json turned = settings();
  turned["fan_in_fan_out"] = true;
  EXPECT_EQ(merged(turned, "bert.key.weight"), (std::vector<float>{5, 2, -1, 12, 5, -2}));
}

TEST_F(Adapter, EmbeddingsBiasesAndWholeModules) {
  adapter_["base_model.model.bert.query.lora_B.bias"] = floats_of({3}, {1, 2, 3});
  adapter_["base_model.model.classifier.weight"] = floats_of({1, 2}, {20, 30});
  adapter_["base_model.model.bert.key.lora_embedding_A"] = floats_of({1, 2}, {1, 2});
  adapter_["base_model.model.bert.key.lora_embedding_B"] = floats_of({3, 1}, {1, 0, -1});
  EXPECT_EQ(merged(settings(), "bert.query.bias"), (std::vector<float>{11, 16, 21}));
  EXPECT_EQ(merged(settings(), "classifier.weight"), (std::vector<float>{20, 30}));
  EXPECT_EQ(merged(settings(), "bert.key.weight"), (std::vector<float>{5, 2, -1, 12, 5, -2}));
}

TEST_F(Adapter, NamesMayLackTheBaseModel) {
  adapter_ = {{std::string(kPrefix) + "query.lora_A.weight", floats_of({1, 2}, {1, 2})},
              {std::string(kPrefix) + "query.lora_B.weight", floats_of({3, 1}, {1, 0, -1})}};
  EXPECT_EQ(merged(settings()), (std::vector<float>{5, 10, 3, 4, 1, -2}));
}

TEST_F(Adapter, OtherAdaptersAndSettingsAreRefusedByName) {
  json other = settings();
  other["peft_type"] = "IA3";
  expect_refused(ExitCode::kUnsupported, other, "\"IA3\" adapters are not merged");
  const json settings_with_effect = {{"init_lora_weights", "pissa"},
                                     {"layer_replication", json::array({json::array({0, 1})})},
                                     {"alora_invocation_tokens", json::array({5})},
                                     {"use_qalora", true},
                                     {"target_parameters", json::array({"experts"})}};
  for (const auto& [key, value] : settings_with_effect.items()) {
    json changed = settings();
    changed[key] = value;
    expect_refused(ExitCode::kUnsupported, changed, key);
  }
}

TEST_F(Adapter, TensorsThatDoNotFitAreNamed) {
  adapter_["base_model.model.bert.value.lora_A.weight"] = floats_of({1, 2}, {1, 2});
  adapter_["base_model.model.bert.value.lora_B.weight"] = floats_of({3, 1}, {1, 0, -1});
  expect_refused(ExitCode::kUnsupported, settings(), "the model has no tensor \"bert.value.weight\"");
  adapter_.erase("base_model.model.bert.value.lora_A.weight");
  expect_refused(ExitCode::kInvalid, settings(), "has no other half");
  adapter_.erase("base_model.model.bert.value.lora_B.weight");
  adapter_["base_model.model.bert.query.lora_A.weight"] = floats_of({1, 5}, {1, 2, 3, 4, 5});
  expect_refused(ExitCode::kInvalid, settings(), "has another shape");
  adapter_["base_model.model.bert.query.lora_A.weight"] = floats_of({2, 2}, {1, 2, 3, 4});
  expect_refused(ExitCode::kInvalid, settings(), "its rank is 2");
}

TEST_F(Adapter, SharedEmbeddingsOfGeneratorsAreRefused) {
  model_["embed_tokens.weight"] = {{2, 3}, {1, 2, 3, 4, 5, 6}};
  adapter_["base_model.model.embed_tokens.weight"] = floats_of({2, 3}, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(merged(settings(), "embed_tokens.weight"), std::vector<float>(6));
  config_["architectures"] = {"LlamaForCausalLM"};
  expect_refused(ExitCode::kUnsupported, settings(), "that the scores of words share");
}

}  // namespace
}  // namespace bantam::convert::fixture
