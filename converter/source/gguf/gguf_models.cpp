#include "source/gguf/gguf_models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/printable.h"
#include "source/sentence_transformers.h"

namespace bantam::convert {
namespace {

constexpr const char* kGgufWords = "token_embd.weight";

std::vector<GgufSetting> joined(std::vector<GgufSetting> a, const std::vector<GgufSetting>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
std::vector<GgufName> joined(std::vector<GgufName> a, const std::vector<GgufName>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::vector<GgufSetting>& encoder_settings() {
  static const std::vector<GgufSetting> kSettings = {{"context_length", "max_position_embeddings"},
                                                     {"embedding_length", "hidden_size"},
                                                     {"block_count", "num_hidden_layers"},
                                                     {"feed_forward_length", "intermediate_size"},
                                                     {"attention.head_count", "num_attention_heads"},
                                                     {"attention.layer_norm_epsilon", "layer_norm_eps"}};
  return kSettings;
}

const std::vector<GgufSetting>& llama_settings() {
  static const std::vector<GgufSetting> kSettings = {{"context_length", "max_position_embeddings"},
                                                     {"embedding_length", "hidden_size"},
                                                     {"block_count", "num_hidden_layers"},
                                                     {"feed_forward_length", "intermediate_size"},
                                                     {"attention.head_count", "num_attention_heads"},
                                                     {"attention.head_count_kv", "num_key_value_heads"},
                                                     {"attention.key_length", "head_dim"},
                                                     {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
                                                     {"rope.freq_base", "rope_theta"}};
  return kSettings;
}

/// Returns the names for all models like Llama; `permuted`: the rows of queries and keys are in the order of Llama's
/// own files.
std::vector<GgufName> llama_names(bool permuted, GgufChange norms = GgufChange::kNone) {
  return {{"token_embd", "model.embed_tokens"},
          {"output", "lm_head"},
          {"output_norm", "model.norm", norms},
          {"blk.{}.attn_norm", "model.layers.{}.input_layernorm", norms},
          {"blk.{}.attn_q", "model.layers.{}.self_attn.q_proj", permuted ? GgufChange::kHeads : GgufChange::kNone},
          {"blk.{}.attn_k", "model.layers.{}.self_attn.k_proj", permuted ? GgufChange::kKeyHeads : GgufChange::kNone},
          {"blk.{}.attn_v", "model.layers.{}.self_attn.v_proj"},
          {"blk.{}.attn_output", "model.layers.{}.self_attn.o_proj"},
          {"blk.{}.attn_q_norm", "model.layers.{}.self_attn.q_norm", norms},
          {"blk.{}.attn_k_norm", "model.layers.{}.self_attn.k_norm", norms},
          {"blk.{}.ffn_gate", "model.layers.{}.mlp.gate_proj"},
          {"blk.{}.ffn_up", "model.layers.{}.mlp.up_proj"},
          {"blk.{}.ffn_down", "model.layers.{}.mlp.down_proj"}};
}

std::vector<GgufName> with_ffn_norm(std::vector<GgufName> names, GgufChange norms = GgufChange::kNone) {
  names.push_back({"blk.{}.ffn_norm", "model.layers.{}.post_attention_layernorm", norms});
  return names;
}

/// Names for Gemma 2 and 3.
std::vector<GgufName> with_four_norms() {
  return joined(llama_names(false, GgufChange::kMoreOne),
                {{"blk.{}.post_attention_norm", "model.layers.{}.post_attention_layernorm", GgufChange::kMoreOne},
                 {"blk.{}.ffn_norm", "model.layers.{}.pre_feedforward_layernorm", GgufChange::kMoreOne},
                 {"blk.{}.post_ffw_norm", "model.layers.{}.post_feedforward_layernorm", GgufChange::kMoreOne}});
}

const std::vector<GgufModel>& models() {
  static const std::vector<GgufModel> kModels = {
      {"bert",
       "bert",
       "Bert",
       false,
       joined(encoder_settings(), {{"tokenizer.ggml.token_type_count", "type_vocab_size"}}),
       {{"token_embd", "embeddings.word_embeddings"},
        {"token_embd_norm", "embeddings.LayerNorm"},
        {"token_types", "embeddings.token_type_embeddings"},
        {"position_embd", "embeddings.position_embeddings"},
        {"blk.{}.attn_q", "encoder.layer.{}.attention.self.query"},
        {"blk.{}.attn_k", "encoder.layer.{}.attention.self.key"},
        {"blk.{}.attn_v", "encoder.layer.{}.attention.self.value"},
        {"blk.{}.attn_output", "encoder.layer.{}.attention.output.dense"},
        {"blk.{}.attn_output_norm", "encoder.layer.{}.attention.output.LayerNorm"},
        {"blk.{}.ffn_up", "encoder.layer.{}.intermediate.dense"},
        {"blk.{}.ffn_down", "encoder.layer.{}.output.dense"},
        {"blk.{}.layer_output_norm", "encoder.layer.{}.output.LayerNorm"},
        {"cls", "pooler.dense"},
        {"cls.output", "classifier"}}},
      {"nomic-bert",
       "nomic_bert",
       "NomicBert",
       false,
       joined(encoder_settings(),
              {{"tokenizer.ggml.token_type_count", "type_vocab_size"}, {"rope.freq_base", "rotary_emb_base"}}),
       {{"token_embd", "embeddings.word_embeddings"},
        {"token_embd_norm", "emb_ln"},
        {"token_types", "embeddings.token_type_embeddings"},
        {"blk.{}.attn_qkv", "encoder.layers.{}.attn.Wqkv"},
        {"blk.{}.attn_output", "encoder.layers.{}.attn.out_proj"},
        {"blk.{}.attn_output_norm", "encoder.layers.{}.norm1"},
        {"blk.{}.ffn_up", "encoder.layers.{}.mlp.fc11"},
        {"blk.{}.ffn_gate", "encoder.layers.{}.mlp.fc12"},
        {"blk.{}.ffn_down", "encoder.layers.{}.mlp.fc2"},
        {"blk.{}.layer_output_norm", "encoder.layers.{}.norm2"}}},
      {"llama", "llama", "Llama", true, llama_settings(), with_ffn_norm(llama_names(true))},
      {"qwen2", "qwen2", "Qwen2", true, llama_settings(), with_ffn_norm(llama_names(false))},
      {"qwen3", "qwen3", "Qwen3", true, llama_settings(), with_ffn_norm(llama_names(false))},
      {"gemma", "gemma", "Gemma", true, llama_settings(),
       with_ffn_norm(llama_names(false, GgufChange::kMoreOne), GgufChange::kMoreOne)},
      {"gemma2", "gemma2", "Gemma2", true,
       joined(llama_settings(), {{"attn_logit_softcapping", "attn_logit_softcapping"},
                                 {"final_logit_softcapping", "final_logit_softcapping"},
                                 {"attention.sliding_window", "sliding_window"}}),
       with_four_norms()},
      {"gemma3", "gemma3_text", "Gemma3", true,
       joined(llama_settings(), {{"final_logit_softcapping", "final_logit_softcapping"},
                                 {"attention.sliding_window", "sliding_window"},
                                 {"rope.freq_base_swa", "rope_local_base_freq"}}),
       with_four_norms()},
      {"gpt2",
       "gpt2",
       "GPT2",
       true,
       {{"context_length", "n_positions"},
        {"embedding_length", "n_embd"},
        {"block_count", "n_layer"},
        {"feed_forward_length", "n_inner"},
        {"attention.head_count", "n_head"},
        {"attention.layer_norm_epsilon", "layer_norm_epsilon"}},
       {{"token_embd", "transformer.wte"},
        {"position_embd", "transformer.wpe"},
        {"output_norm", "transformer.ln_f"},
        {"output", "lm_head"},
        {"blk.{}.attn_norm", "transformer.h.{}.ln_1"},
        {"blk.{}.attn_qkv", "transformer.h.{}.attn.c_attn", GgufChange::kTurned},
        {"blk.{}.attn_output", "transformer.h.{}.attn.c_proj", GgufChange::kTurned},
        {"blk.{}.ffn_norm", "transformer.h.{}.ln_2"},
        {"blk.{}.ffn_up", "transformer.h.{}.mlp.c_fc", GgufChange::kTurned},
        {"blk.{}.ffn_down", "transformer.h.{}.mlp.c_proj", GgufChange::kTurned}}}};
  return kModels;
}

/// Values that change what a model computes but have no setting in a family's table, and their neutral values.
struct Neutral {
  const char* key;
  double value;
};
constexpr std::array<Neutral, 15> kNeutral = {{{"expert_count", 0},
                                               {"attention.max_alibi_bias", 0},
                                               {"attention.clamp_kqv", 0},
                                               {"attention.scale", 0},
                                               {"attention.output_scale", 0},
                                               {"attention.temperature_length", 0},
                                               {"attn_logit_softcapping", 0},
                                               {"final_logit_softcapping", 0},
                                               {"router_logit_softcapping", 0},
                                               {"logit_scale", 0},
                                               {"residual_scale", 0},
                                               {"embedding_scale", 0},
                                               {"use_parallel_residual", 0},
                                               {"rope.scaling.attn_factor", 1},
                                               {"attention.shared_kv_layers", 0}}};
/// Values that are read elsewhere, or that do not affect the computation.
constexpr std::array<std::string_view, 10> kKnownKeys = {"vocab_size",
                                                         "attention.causal",
                                                         "attention.value_length",
                                                         "pooling_type",
                                                         "rope.dimension_count",
                                                         "rope.scaling.type",
                                                         "rope.scaling.factor",
                                                         "rope.scaling.finetuned",
                                                         "classifier.output_labels",
                                                         "rope.scaling.original_context_length"};

double as_number(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.is_number() ? value.get<double>() : 0;
}

class ConfigMaker {
 public:
  ConfigMaker(const GgufModel& model, const GgufFile& file, Problems& problems, std::vector<std::string>& notes)
      : model_(model), file_(file), problems_(problems), notes_(notes) {}

  Json make() {
    config_["model_type"] = model_.model_type;
    for (const GgufSetting& setting : model_.settings) {
      const Json& value = file_.value(whole(setting.key));
      if (value.is_array()) {
        unsupported(setting.key, "differs from layer to layer");
      } else if (!value.is_null()) {
        config_[setting.setting] = value;
      }
    }
    const auto table = file_.tensors().find(kGgufWords);
    if (table != file_.tensors().end() && table->second.shape.size() == 2) {
      config_["vocab_size"] = table->second.shape[0];
    }
    model_.generates ? decoder() : encoder();
    read_pooling();
    read_rotary();
    check_others();
    return std::move(config_);
  }

 private:
  std::string whole(const char* key) const {
    constexpr std::string_view kTokenizer = "tokenizer.";
    if (std::string_view(key).substr(0, kTokenizer.size()) == kTokenizer) return key;
    return fmt::format("{}.{}", model_.architecture, key);
  }
  void unsupported(const char* key, const std::string& why) {
    problems_.add(ExitCode::kUnsupported,
                  fmt::format("{}: {}: {}, which is not supported; convert the transformers checkpoint that the file "
                              "was made of",
                              file_.path().string(), whole(key), why));
  }
  bool has(const char* tensor) const { return file_.tensors().count(tensor) != 0; }
  void be(const char* end) { config_["architectures"] = {std::string(model_.class_name) + end}; }

  void encoder() {
    // Files without this table have no segments (DistilBERT's files).
    if (!has("token_types.weight")) config_["type_vocab_size"] = 0;
    if (file_.flag(whole("attention.causal"), false)) unsupported("attention.causal", "is true");
    be("Model");
    if (!has("cls.output.weight")) {
      if (has("cls.weight")) unsupported("pooling_type", "scores by a layer without a second one");
      return;
    }
    if (!has("cls.weight")) {
      unsupported("pooling_type", "scores by a second layer whose first (\"cls\") was left out");
    }
    be("ForSequenceClassification");
    const Json& labels = file_.value(whole("classifier.output_labels"));
    for (size_t i = 0; labels.is_array() && i < labels.size(); ++i) config_["id2label"][std::to_string(i)] = labels[i];
  }

  void decoder() {
    if (!file_.flag(whole("attention.causal"), true)) unsupported("attention.causal", "is false");
    const Json& keys = file_.value(whole("attention.key_length"));
    const Json& values = file_.value(whole("attention.value_length"));
    if (!values.is_null() && values != keys) unsupported("attention.value_length", "is not attention.key_length");
    config_["tie_word_embeddings"] = !has("output.weight");
    for (const auto& [id, key] : {std::pair("tokenizer.ggml.eos_token_id", "eos_token_id"),
                                  std::pair("tokenizer.ggml.bos_token_id", "bos_token_id"),
                                  std::pair("tokenizer.ggml.padding_token_id", "pad_token_id")}) {
      if (file_.count(id, -1) >= 0) config_[key] = static_cast<uint64_t>(file_.count(id, 0));
    }
    be(std::string_view(model_.class_name) == "GPT2" ? "LMHeadModel" : "ForCausalLM");
    read_gemma();
  }

  /// Adds a setting that files lack: the largest models divide attention scores by the square root of another width.
  void read_gemma() {
    const std::string_view name = model_.architecture;
    if (name != "gemma2" && name != "gemma3") return;
    const int64_t layers = file_.count(whole("block_count"), 0), heads = file_.count(whole("attention.head_count"), 0);
    const int64_t hidden = file_.count(whole("embedding_length"), 0);
    const bool largest = layers == (name == "gemma2" ? 46 : 62) && heads > 0;
    const int64_t width = largest ? hidden / heads : file_.count(whole("attention.key_length"), 256);
    config_["query_pre_attn_scalar"] = static_cast<uint64_t>(width);
    if (name == "gemma3" && !config_.contains("sliding_window")) config_["sliding_window_pattern"] = 1;
  }

  void read_pooling() {
    constexpr std::array<const char*, 4> kPoolings = {"", "mean", "cls", "last"};
    constexpr int64_t kRank = 4;
    const int64_t pooling = file_.count(whole("pooling_type"), 0);
    if (pooling == 0 || pooling == kRank) return;
    if (pooling > kRank) return unsupported("pooling_type", fmt::format("is {}", pooling));
    config_[kTextPooling] = kPoolings.at(static_cast<size_t>(pooling));
  }

  void read_rotary() {
    const int64_t heads = file_.count(whole("attention.head_count"), 0);
    const int64_t hidden = file_.count(whole("embedding_length"), 0);
    const int64_t width = file_.count(whole("attention.key_length"), heads > 0 ? hidden / heads : 0);
    const int64_t turned = file_.count(whole("rope.dimension_count"), width);
    if (turned != width) unsupported("rope.dimension_count", fmt::format("is {}, of heads of {}", turned, width));
    const std::string type = file_.text(whole("rope.scaling.type"), "none");
    if (type == "linear" || type == "yarn") {
      Json scaling = {{"rope_type", type}};
      const Json& factor = file_.value(whole("rope.scaling.factor"));
      const Json& original = file_.value(whole("rope.scaling.original_context_length"));
      if (!factor.is_null()) scaling["factor"] = factor;
      if (!original.is_null()) scaling["original_max_position_embeddings"] = original;
      config_["rope_scaling"] = scaling;
    } else if (type != "none") {
      unsupported("rope.scaling.type", fmt::format("is \"{}\"", printable(type)));
    }
  }

  void check_others() {
    const std::string prefix = std::string(model_.architecture) + ".";
    std::vector<std::string> left;
    for (const auto& [key, value] : file_.values()) {
      if (key.compare(0, prefix.size(), prefix) != 0) continue;
      const std::string_view name = std::string_view(key).substr(prefix.size());
      const auto mapped = [&](const GgufSetting& setting) { return name == setting.key; };
      if (std::any_of(model_.settings.begin(), model_.settings.end(), mapped)) continue;
      if (std::find(kKnownKeys.begin(), kKnownKeys.end(), name) != kKnownKeys.end()) continue;
      const auto neutral =
          std::find_if(kNeutral.begin(), kNeutral.end(), [&](const Neutral& known) { return name == known.key; });
      if (neutral == kNeutral.end()) {
        left.push_back(printable(key));
      } else if (as_number(value) != neutral->value) {
        unsupported(neutral->key, fmt::format("is {}", as_number(value)));
      }
    }
    if (!left.empty()) notes_.push_back(fmt::format("values that are not read: {}", fmt::join(left, ", ")));
  }

  const GgufModel& model_;
  const GgufFile& file_;
  Problems& problems_;
  std::vector<std::string>& notes_;
  Json config_ = Json::object();
};

}  // namespace

const GgufModel& gguf_model(const GgufFile& file) {
  const std::string name = file.text("general.architecture");
  std::vector<std::string> known;
  for (const GgufModel& model : models()) {
    if (name == model.architecture) return model;
    known.emplace_back(model.architecture);
  }
  throw Error(ExitCode::kUnsupported,
              fmt::format("{}: general.architecture: {} is not supported from GGUF; {} are. Name the directory of the "
                          "transformers checkpoint that the file was made of",
                          file.path().string(),
                          name.empty() ? "it is missing, and none" : fmt::format("\"{}\"", printable(name)),
                          fmt::join(known, ", ")));
}

Json gguf_config(const GgufModel& model, const GgufFile& file, Problems& problems, std::vector<std::string>& notes) {
  return ConfigMaker(model, file, problems, notes).make();
}

std::pair<std::string, GgufChange> gguf_tensor_name(const GgufModel& model, const std::string& name) {
  constexpr std::string_view kLayer = "blk.";
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {name, GgufChange::kNone};
  std::string module = name.substr(0, dot), layer;
  if (module.compare(0, kLayer.size(), kLayer) == 0) {
    const size_t end = module.find('.', kLayer.size());
    if (end == std::string::npos) return {name, GgufChange::kNone};
    layer = module.substr(kLayer.size(), end - kLayer.size());
    module.replace(kLayer.size(), layer.size(), "{}");
  }
  for (const GgufName& known : model.names) {
    if (module != known.gguf) continue;
    std::string made = known.name;
    if (const size_t at = made.find("{}"); at != std::string::npos) made.replace(at, 2, layer);
    return {made + name.substr(dot), known.change};
  }
  return {name, GgufChange::kNone};
}

}  // namespace bantam::convert
