// Settings of config.json in published files, and settings that are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "golden/tiny.h"

namespace bantam::golden::settings_test {
namespace {

convert::EncoderConfig read(const Json& json) {
  convert::Problems problems;
  const Json parsed = Json::parse(json.dump());  // numbers as read from a file
  convert::EncoderConfig config = convert::read_encoder_config(convert::Fields(parsed, "config.json", problems));
  problems.raise();
  return config;
}

TEST(PublishedSettings, OlderNamesServeWhereTheOthersAreMissing) {
  const Json old = {{"model_type", "nomic_bert"},
                    {"n_embd", 24},
                    {"n_head", 3},
                    {"n_layer", 2},
                    {"n_inner", 40},
                    {"activation_function", "swiglu"},
                    {"rotary_emb_base", 500},
                    {"prenorm", false},
                    {"layer_norm_epsilon", 1e-6}};
  const convert::EncoderConfig config = read(old);
  EXPECT_EQ(config.hidden, 24U);
  EXPECT_EQ(config.heads, 3U);
  EXPECT_EQ(config.layers, 2U);
  EXPECT_EQ(config.intermediate, 40U);
  EXPECT_EQ(config.activation, fb::ActivationKind::silu);
  EXPECT_EQ(config.places.at(1).rotary.base, 500);
  EXPECT_FLOAT_EQ(config.epsilon, 1e-6F);
  for (const auto& [key, value] : std::map<std::string, Json>{
           {"prenorm", true}, {"rotary_emb_interleaved", true}, {"rotary_emb_fraction", 0.5}, {"num_experts", 8}}) {
    Json other = old;
    other[key] = value;
    EXPECT_THROW(read(other), convert::Error) << key;
  }
}

TEST(PublishedSettings, ElectraChoosesByTheFirstTokenOnly) {
  const Family& electra = *convert::find_family("electra");
  const Tiny model(electra, *electra.head(fb::TaskKind::choose), kHidden, true);
  convert::ModelSource source = model.source();
  source.config["summary_type"] = "mean";
  try {
    convert::import_source(source, model.options());
    ADD_FAILURE() << "was not refused";
  } catch (const convert::Error& error) {
    EXPECT_NE(std::string(error.what()).find("summary_type"), std::string::npos) << error.what();
  }
}

/// Returns the reason why this source is refused.
std::string refusal(const convert::ModelSource& source, const convert::ImportOptions& options) {
  try {
    convert::import_source(source, options);
  } catch (const convert::Error& error) {
    return error.what();
  }
  return "";
}

TEST(PublishedSettings, ConvolutionsOfWholeTokensAroundEachOne) {
  const Family& family = *convert::find_family("deberta-v2");
  const Tiny model(family, *family.head(fb::TaskKind::classify), 10, true);
  EXPECT_EQ(refusal(model.source(), model.options()), "");
  const std::pair<const char*, Json> wrong[] = {
      {"conv_kernel_size", 2},    {"conv_kernel_size", -3},     {"conv_kernel_size", 1.5}, {"conv_kernel_size", "3"},
      {"conv_kernel_size", 4001}, {"conv_kernel_size", 5},      {"conv_groups", 2},        {"conv_act", "maxout"},
      {"embedding_size", 0},      {"embedding_size", 1u << 30}, {"embedding_size", 11}};
  for (const auto& [key, value] : wrong) {
    convert::ModelSource source = model.source();
    source.config[key] = value;
    EXPECT_NE(refusal(source, model.options()), "") << key << " " << value;
  }
  convert::ModelSource without = model.source();
  without.config.erase("conv_kernel_size");
  EXPECT_NE(refusal(without, model.options()).find("encoder.conv"), std::string::npos);
}

TEST(PublishedSettings, AHeadAsWideAsLayersHasNoNarrowWords) {
  const Family& family = *convert::find_family("deberta-v2");
  const auto wide = std::find_if(family.heads.begin(), family.heads.end(), shares_wide_words);
  ASSERT_NE(wide, family.heads.end());
  const Tiny model(family, *wide, 10, true);
  EXPECT_NE(refusal(model.source(), model.options()).find("embedding_size"), std::string::npos);
}

TEST(PublishedSettings, XlnetTellsWhatItRefuses) {
  const Family& xlnet = *convert::find_family("xlnet");
  const Tiny model(xlnet, *xlnet.head(fb::TaskKind::classify), kHidden, true);
  const std::pair<const char*, Json> wrong[] = {{"attn_type", "uni"},
                                                {"bi_data", true},
                                                {"clamp_len", 1e300},
                                                {"clamp_len", 2.5},
                                                {"n_head", 4},
                                                {"d_model", 17},
                                                {"summary_type", "attn"},
                                                {"d_inner", 21},
                                                {"bantam_positions", 0},
                                                {"summary_activation", 7},
                                                {"vocab_size", 38},
                                                {"n_layer", 3},
                                                {"bantam_positions", 1u << 20}};
  for (const auto& [key, value] : wrong) {
    convert::ModelSource source = model.source();
    source.config[key] = value;
    EXPECT_NE(refusal(source, model.options()), "") << key << " " << value;
  }
}

TEST(PublishedSettings, XlnetSearchesAsManyAnswersAsItSays) {
  const Family& xlnet = *convert::find_family("xlnet");
  const auto searches = [](const Head& head) { return head.searches; };
  const auto head = std::find_if(xlnet.heads.begin(), xlnet.heads.end(), searches);
  ASSERT_NE(head, xlnet.heads.end());
  const Tiny model(xlnet, *head, kHidden, true);
  convert::ModelSource source = model.source();
  source.config["start_n_top"] = 2U;
  source.config["end_n_top"] = 64U;
  const convert::Graph graph = convert::import_source(source, model.options());
  EXPECT_EQ(graph.model.task->beam_ends, 64U);
  EXPECT_EQ(graph.model.outputs.size(), 4U);
  for (const char* key : {"start_n_top", "end_n_top"}) {
    for (const Json& wrong : {Json(0), Json(65), Json("5"), Json(1.5), Json(-1)}) {
      convert::ModelSource other = model.source();
      other.config[key] = wrong;
      EXPECT_NE(refusal(other, model.options()).find(key), std::string::npos) << wrong;
    }
  }
}

TEST(PublishedSettings, XlnetTakesTextsOfTheLengthThatIsAsked) {
  const Family& xlnet = *convert::find_family("xlnet");
  const Tiny model(xlnet, *xlnet.head(fb::TaskKind::tag), kHidden, true);
  convert::ImportOptions options = model.options();
  for (const uint32_t length : {1U, 7U, 300U}) {
    options.max_tokens = length;
    const convert::Graph graph = convert::import_source(model.source(), options);
    EXPECT_EQ(graph.model.max_sequence, length);
    if (length < 7) continue;
    EXPECT_LE(compare(graph, fb::DType::f32, samples(4, kVocabulary, length)).largest, kLargestDifference);
  }
}

TEST(PublishedSettings, VectorsOfDistancesNeedATableOfThem) {
  const Family& bert = *convert::find_family("bert");
  const Head& head = *bert.head(fb::TaskKind::classify);
  const Tiny plain(bert, head, kHidden, true);
  convert::ModelSource source = plain.source();
  source.config["position_embedding_type"] = "relative_key";
  EXPECT_NE(refusal(source, plain.options()).find("distance_embedding"), std::string::npos);
  source.config["position_embedding_type"] = "relative";
  EXPECT_NE(refusal(source, plain.options()).find("relative_key_query"), std::string::npos);
  const Tiny relative(bert, head, kHidden, true, "relative_key");
  source = relative.source();
  source.config.erase("position_embedding_type");
  EXPECT_NE(refusal(source, relative.options()).find("distance_embedding"), std::string::npos);
  source = relative.source();
  source.config["max_position_embeddings"] = kPositions + 1;  // the table has no row for it
  EXPECT_NE(refusal(source, relative.options()), "");
}

TEST(PublishedSettings, RotaryPositionsThatNtkScales) {
  Json json = {{"model_type", "new"},      {"hidden_size", 24},
               {"num_attention_heads", 3}, {"position_embedding_type", "rope"},
               {"rope_theta", 20000},      {"rope_scaling", {{"type", "ntk"}, {"factor", 8.0}}}};
  // As in the model's own code: the base times the factor, and angles divided by factor^(2 / head width).
  const convert::LayerPlaces places = read(json).places.at(0);
  EXPECT_EQ(places.rotary.base, 160000);
  EXPECT_DOUBLE_EQ(places.rotary.step, std::pow(8.0, -2.0 / 8));
  json["rope_scaling"]["mixed_b"] = 1;
  EXPECT_THROW(read(json), convert::Error);
}

/// Returns the rotary angles of a decoder's first layer for texts of `tokens` tokens.
std::vector<float> angles(const Json& settings, uint32_t tokens, uint32_t* turned) {
  const convert::LayerPlaces places = read(settings).places.at(0);
  *turned = places.turned;
  return convert::rotary_angles(tokens, places.turned, places.rotary);
}

/// tests/golden/rotary/make_expected.py: every published scaling over many text lengths, from transformers' own
/// functions.
TEST(PublishedSettings, RotaryPositionsTurnAsThoseOfTransformers) {
  std::ifstream lines(std::string(BANTAM_SOURCE_DIR) + "/tests/golden/rotary/expected.jsonl");
  size_t cases = 0;
  for (std::string line; std::getline(lines, line); ++cases) {
    const Json expected = Json::parse(line);
    const auto length = expected.at("length").get<uint32_t>();
    SCOPED_TRACE(expected.at("config").at("rope_parameters").dump() + " of " + std::to_string(length));
    uint32_t turned = 0;
    const std::vector<float> found = angles(expected.at("config"), length, &turned);
    const Json& steps = expected.at("steps");
    ASSERT_EQ(turned, 2 * steps.size());
    for (const uint32_t place : {0U, 1U, length / 3, length - 1}) {
      for (size_t i = 0; i < steps.size(); ++i) {
        const double angle = steps[i].get<double>() * place, amplitude = expected.at("amplitude");
        const double error = 4e-7 * (1 + angle);  // a few rounding steps of an f32 angle
        EXPECT_NEAR(found[size_t{place} * turned + i], amplitude * std::cos(angle), error * amplitude)
            << place << " " << i;
        EXPECT_NEAR(found[size_t{place} * turned + steps.size() + i], amplitude * std::sin(angle), error * amplitude);
      }
    }
  }
  EXPECT_EQ(cases, 16U);
}

TEST(PublishedSettings, ScalingsThatMakeNoSense) {
  const Json base = {{"model_type", "llama"}, {"hidden_size", 24},      {"num_attention_heads", 4},
                     {"vocab_size", 30},      {"num_hidden_layers", 1}, {"max_position_embeddings", 64}};
  EXPECT_NO_THROW(read(base));
  for (const char* scaling : {
           R"({"rope_type": "spiral"})",
           R"({"rope_type": "linear", "factor": 0})",
           R"({"rope_type": "yarn", "factor": -1})",
           R"({"rope_type": "yarn", "factor": 2, "beta_fast": 0})",
           R"({"rope_type": "longrope", "long_factor": [1, 2, 3]})",
           R"({"rope_type": "longrope", "long_factor": [1, 2, 3], "short_factor": [1, 2]})",
           R"({"rope_type": "longrope", "long_factor": [1, 2, 3], "short_factor": [1, 0, 2]})",
           R"({"rope_type": "llama3", "factor": 2, "low_freq_factor": 4, "high_freq_factor": 1})",
           R"({"rope_type": "linear", "factor": 2, "partial_rotary_factor": 0.5})",
           R"({"rope_type": "linear", "factor": 2, "partial_rotary_factor": 2})",
           R"({"rope_theta": 0})",
       }) {
    Json json = base;
    json["rope_parameters"] = Json::parse(scaling);
    EXPECT_THROW(read(json), convert::Error) << scaling;
  }
}

/// Returns the message with which settings are refused, or "" if they are read.
std::string said_of(const Json& settings) {
  try {
    read(settings);
  } catch (const convert::Error& error) {
    return error.what();
  }
  return "";
}

TEST(PublishedSettings, NamesThatTransformersReadsForEveryModel) {
  const convert::EncoderConfig gpt2 = read({{"model_type", "gpt2"},
                                            {"hidden_size", 24},
                                            {"num_attention_heads", 3},
                                            {"num_hidden_layers", 2},
                                            {"max_position_embeddings", 40}});
  EXPECT_EQ(gpt2.hidden, 24U);
  EXPECT_EQ(gpt2.heads, 3U);
  EXPECT_EQ(gpt2.layers, 2U);
  EXPECT_EQ(gpt2.positions, 40U);
  // For an encoder-decoder these names mean the encoder.
  const Json json = Json::parse(R"({"model_type": "bart", "d_model": 48, "num_attention_heads": 3})");
  convert::Problems problems;
  const convert::Fields fields(json, "config.json", problems);
  EXPECT_EQ(convert::read_source_config(fields, *convert::find_family("bart")).heads, 3U);
  EXPECT_EQ(convert::read_encoder_config(fields).heads, 16U);
}

TEST(PublishedSettings, PartsOfHeadsTurnWhereTransformersTurnsThem) {
  const Json base = {{"hidden_size", 32}, {"num_attention_heads", 4}, {"num_key_value_heads", 4}, {"head_dim", 8}};
  const auto with = [&](const char* model_type, const Json& part) {
    Json json = base;
    json["model_type"] = model_type;
    json["rope_parameters"] = {{"rope_theta", 10000}, {"partial_rotary_factor", part}};
    return json;
  };
  for (const char* name : {"phi", "phi3", "glm", "stablelm", "nemotron", "persimmon"}) {
    EXPECT_EQ(read(with(name, 0.25)).places.at(0).turned, 2U) << name;
  }
  for (const char* name : {"llama", "mistral", "qwen2", "cohere", "arcee", "aria_text"}) {
    EXPECT_EQ(read(with(name, 1.0)).places.at(0).turned, 8U) << name;
    EXPECT_NE(said_of(with(name, 0.25)).find("partial_rotary_factor"), std::string::npos) << name;
  }
}

/// GPT-NeoX reads its own key instead of the usual one; a value in "rope_parameters" precedes both.
TEST(PublishedSettings, PartsOfHeadsUnderAKeyOfTheFamily) {
  Json neox = {{"model_type", "gpt_neox"}, {"hidden_size", 64}, {"num_attention_heads", 4}, {"rotary_pct", 0.5}};
  neox["partial_rotary_factor"] = 1.0;
  EXPECT_EQ(read(neox).places.at(0).turned, 8U);
  neox["rope_parameters"] = {{"rope_theta", 10000}, {"partial_rotary_factor", 0.25}};
  EXPECT_EQ(read(neox).places.at(0).turned, 4U);
  neox["rope_parameters"] = {{"rope_type", "yarn"}, {"factor", 4}, {"partial_rotary_factor", 0.2}};
  EXPECT_NE(said_of(neox).find("rope_type"), std::string::npos) << said_of(neox);
}

TEST(PublishedSettings, NullIsFalse) {
  const Json falcon = {
      {"model_type", "falcon"}, {"hidden_size", 64}, {"num_attention_heads", 4}, {"multi_query", nullptr}};
  EXPECT_EQ(read(falcon).kv_heads, 4U);
}

TEST(PublishedSettings, DefaultsOfScalings) {
  Json cwm = {{"model_type", "cwm"},
              {"hidden_size", 32},
              {"num_attention_heads", 4},
              {"num_key_value_heads", 4},
              {"head_dim", 8}};
  EXPECT_EQ(read(cwm).places.at(0).rotary.factor, 16);
  EXPECT_EQ(read(cwm).places.at(0).rotary.original, 8192);
  const Json ministral = {
      {"model_type", "ministral3"}, {"hidden_size", 32}, {"num_attention_heads", 4}, {"num_key_value_heads", 4}};
  EXPECT_EQ(read(ministral).positions, 16384U);
  EXPECT_EQ(read(ministral).places.at(0).rotary.factor, 16);
  cwm["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 1e6}};
  EXPECT_EQ(read(cwm).places.at(0).rotary.factor, convert::Rotary().factor);
}

TEST(PublishedSettings, DefaultsOfEncoderDecoders) {
  const convert::EncoderConfig m2m = read({{"model_type", "m2m_100"}, {"d_model", 64}});
  EXPECT_EQ(m2m.activation, fb::ActivationKind::relu);
  EXPECT_EQ(m2m.embedding_factor, 8);
  for (const char* name : {"mt5", "umt5"}) {
    const convert::EncoderConfig config = read({{"model_type", name}});
    EXPECT_EQ(config.activation, fb::ActivationKind::gelu_tanh) << name;
    EXPECT_EQ(config.heads, 6U) << name;
    EXPECT_EQ(config.divides_last, name == std::string("umt5")) << name;
  }
}

/// SmolLM 3's windows are those of layers without rotary positions, unless "layer_types" lists them.
TEST(PublishedSettings, WindowsOfLayersWithoutPositions) {
  Json json = {{"model_type", "smollm3"}, {"num_hidden_layers", 4}, {"no_rope_layers", {1, 0, 1, 0}}};
  json["sliding_window"] = 5;
  const auto sees_all = [](const Json& settings) {
    std::vector<bool> all;
    for (const convert::LayerPlaces& places : read(settings).places) all.push_back(places.sees_all);
    return all;
  };
  EXPECT_EQ(sees_all(json), std::vector<bool>(4, true));
  json["use_sliding_window"] = true;
  EXPECT_EQ(sees_all(json), (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(read(json).places.at(1).window, 4U);
  json["layer_types"] = {"sliding_attention", "full_attention", "full_attention", "full_attention"};
  EXPECT_EQ(sees_all(json), (std::vector<bool>{false, true, true, true}));
  json.erase("layer_types");
  json.erase("sliding_window");
  EXPECT_EQ(sees_all(json), std::vector<bool>(4, true));
}

/// Texts of Llama 4 end where attention has another chunk, or queries another factor.
TEST(PublishedSettings, TextsOfOneChunk) {
  Json json = {{"model_type", "llama4_text"}, {"num_hidden_layers", 4}};
  EXPECT_EQ(read(json).positions, 8191U);
  json["attn_temperature_tuning"] = false;
  EXPECT_EQ(read(json).positions, 8192U);
  json["attention_chunk_size"] = nullptr;
  EXPECT_EQ(read(json).positions, 131072U);
  json["attn_temperature_tuning"] = true;
  json["floor_scale"] = 40;
  EXPECT_EQ(read(json).positions, 39U);
  EXPECT_EQ(read(json).experts.layers, std::vector<bool>(4, true));
  json["interleave_moe_layer_step"] = 2;
  EXPECT_EQ(read(json).experts.layers, (std::vector<bool>{false, true, false, true}));
  json["moe_layers"] = {0, 3};
  EXPECT_EQ(read(json).experts.layers, (std::vector<bool>{true, false, false, true}));
  json["moe_layers"] = {0, 4};
  EXPECT_EQ(read(json).experts.layers, (std::vector<bool>{true, false, false, false}));
  json["moe_layers"] = {-1};
  EXPECT_NE(said_of(json).find("moe_layers"), std::string::npos) << said_of(json);
}

TEST(PublishedSettings, DefaultsOfBoundedExperts) {
  Json json = {{"model_type", "gpt_oss"}};
  EXPECT_EQ(read(json).experts.limit, 7);
  EXPECT_EQ(read(json).activation, fb::ActivationKind::quick_gelu);
  EXPECT_EQ(read(json).places.at(1).rotary.factor, 32);
  EXPECT_FALSE(read(json).places.at(1).rotary.whole);
  EXPECT_EQ(read(json).places.at(0).window, 127U);
  EXPECT_TRUE(read(json).places.at(1).sees_all);
  json["swiglu_limit"] = 0.5;
  EXPECT_EQ(read(json).experts.limit, 0.5F);
  json["quantization_config"] = {{"quant_method", "mxfp4"}};
  EXPECT_EQ(read(json).experts.limit, 0.5F);
  json["quantization_config"] = {{"quant_method", "bitsandbytes"}};
  EXPECT_NE(said_of(json).find("quantization_config"), std::string::npos);
}

TEST(PublishedSettings, RefusedByTheirNames) {
  const std::pair<const char*, std::pair<const char*, Json>> wrong[] = {
      {"aria_text", {"hidden_act", "gelu"}},
      {"gemma3_text", {"attn_logit_softcapping", 50}},
      {"opt", {"_remove_final_layer_norm", true}},
      {"smollm3", {"layer_types", Json(std::vector<std::string>(36, "sliding_attention"))}},
      {"gpt_oss", {"swiglu_alpha", 2}},
      {"gpt_oss", {"swiglu_limit", 0}},
      {"apertus", {"hidden_act", "silu"}},
      {"apertus1p5_text", {"output_vocab_size", 100}},
      {"convbert", {"num_groups", 2}},
      {"fnet", {"use_tpu_fourier_optimizations", true}},
      {"convbert", {"conv_kernel_size", 4}},
      {"llama4_text", {"layer_types", Json(std::vector<std::string>(48, "sliding_attention"))}},
      {"cohere2_moe", {"rope_scaling", {{"rope_type", "linear"}, {"factor", 2}}}},
  };
  for (const auto& [name, setting] : wrong) {
    const Json json = {{"model_type", name}, {setting.first, setting.second}};
    EXPECT_NE(said_of(json).find(setting.first), std::string::npos) << name << ": " << said_of(json);
  }
}

}  // namespace
}  // namespace bantam::golden::settings_test
