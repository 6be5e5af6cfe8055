#include "source/gliner.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "source/source_path.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMostColumns = 1U << 14, kMostWords = 1U << 12, kMostWordLayers = 64;
/// Maximum number of labels per text in files; models are trained with fewer at a time.
constexpr uint32_t kLabels = 100;
/// Followed by the tokens that the library adds: an unused one, that of labels, that of texts.
constexpr std::array<const char*, 1> kUnusedTokens = {"[FLERT]"};

/// Encoders for which files contain only the name.
struct NamedEncoder {
  std::string_view name;
  uint32_t hidden, layers, heads;
};
constexpr std::array<NamedEncoder, 5> kNamed = {{{"microsoft/deberta-v3-xsmall", 384, 12, 6},
                                                 {"microsoft/deberta-v3-small", 768, 6, 12},
                                                 {"microsoft/deberta-v3-base", 768, 12, 12},
                                                 {"microsoft/deberta-v3-large", 1024, 24, 16},
                                                 {"microsoft/mdeberta-v3-base", 768, 12, 12}}};

/// The configuration of a published DeBERTa 3; null for any other name.
Json named_encoder(const std::string& name) {
  for (const NamedEncoder& known : kNamed) {
    if (known.name != name) continue;
    return {{"model_type", "deberta-v2"},
            {"hidden_size", known.hidden},
            {"num_hidden_layers", known.layers},
            {"num_attention_heads", known.heads},
            {"intermediate_size", 4 * known.hidden},
            {"hidden_act", "gelu"},
            {"max_position_embeddings", 512U},
            {"relative_attention", true},
            {"position_buckets", 256U},
            {"norm_rel_ebd", "layer_norm"},
            {"share_att_key", true},
            {"pos_att_type", "p2c|c2p"},
            {"layer_norm_eps", 1e-7},
            {"max_relative_positions", -1},
            {"position_biased_input", false},
            {"type_vocab_size", 0U}};
  }
  return nullptr;
}

std::string text_of(const Json& json, const char* key, const char* otherwise) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

/// Number of rows of the encoder's word embeddings; 0: there are none.
uint64_t vocabulary(const Checkpoint& checkpoint) {
  const std::string prefix = std::string(kGlinerEncoder) + ".";
  for (const auto& [name, entry] : checkpoint.tensors()) {
    const bool words = name.find("word_embeddings.weight") != std::string::npos ||
                       name.find("tok_embeddings.weight") != std::string::npos;
    if (words && name.compare(0, prefix.size(), prefix) == 0 && !entry.stored->shape.empty())
      return entry.stored->shape.front();
  }
  return 0;
}

bool has_token(const Json& added, const std::string& text) {
  for (const Json& token : added) {
    if (token.is_object() && text_of(token, "content", "") == text) return true;
  }
  return false;
}

/// Files of the first releases contain the encoder's unmodified tokenizer, if any; the library adds its tokens when it
/// loads them.
void add_tokens(const Json& settings, uint64_t rows, TokenizerFiles& files) {
  const auto index = settings.find("class_token_index");
  const bool stated = index != settings.end() && index->is_number_integer() && index->get<int64_t>() > 0;
  const uint64_t label = stated ? index->get<uint64_t>() : rows - 2;
  if (rows < 4 || label >= rows - 1) return;
  const std::array<std::pair<std::string, uint64_t>, 3> added = {
      {{kUnusedTokens[0], label - 1},
       {text_of(settings, "ent_token", "<<ENT>>"), label},
       {text_of(settings, "sep_token", "<<SEP>>"), label + 1}}};
  if (files.json.is_object() && files.json.contains("added_tokens") && files.json["added_tokens"].is_array()) {
    Json& list = files.json["added_tokens"];
    if (has_token(list, added[1].first)) return;
    for (const auto& [text, id] : added) {
      list.push_back({{"id", id},
                      {"content", text},
                      {"single_word", false},
                      {"lstrip", false},
                      {"rstrip", false},
                      {"normalized", false},
                      {"special", true}});
    }
  } else if (files.pieces) {
    if (!files.config.is_object()) files.config = Json::object();
    Json& list = files.config["added_tokens_decoder"];
    if (list.is_object() && has_token(list, added[1].first)) return;
    if (!list.is_object()) list = Json::object();
    for (const auto& [text, id] : added) {
      list[std::to_string(id)] = {{"content", text}, {"special", true}, {"normalized", false}};
    }
  }
}

/// Refuses files with another head, judging by their settings.
void require_head(const Fields& config) {
  struct Other {
    const char* key;
    const char* what;
  };
  constexpr std::array<Other, 5> kOthers = {
      {{"labels_encoder", "labels with an encoder of their own are not supported"},
       {"labels_decoder", "heads that write labels are not supported"},
       {"relations_layer", "relations between spans are not supported"},
       {"span_encoder_config", "a further encoder of words is not supported"},
       {"labels_encoder_config", "labels with an encoder of their own are not supported"}}};
  for (const Other& other : kOthers) {
    if (config.has(other.key)) config.problem(ExitCode::kUnsupported, other.key, other.what);
  }
  for (const char* flag : {"fuse_layers", "precomputed_prompts_mode"}) {
    if (config.flag(flag, false)) config.problem(ExitCode::kUnsupported, flag, "only false is supported");
  }
  const auto only = [&](const char* key, const char* otherwise, const char* known, const char* why) {
    const std::string value = config.text(key, otherwise);
    if (value == known) return;
    config.problem(ExitCode::kUnsupported, key,
                   fmt::format("\"{}\" is not supported; \"{}\" is{}{}", value, known, *why == 0 ? "" : ": ", why));
  };
  only("span_mode", "markerV0", "markerV0", "its spans are scored by their first and last words");
  only("subtoken_pooling", "first", "first", "");
  only("words_splitter_type", "whitespace", "whitespace", "others are libraries of their own");
  only("post_fusion_schema", "", "", "");
}

}  // namespace

// The directory as a source of its encoder's family. Fails if the file does not specify the encoder or its tokenizer.
bool is_gliner(const SourcePath& named) { return named.is_folder() && named.files->has(kGlinerSettings); }

bool has_gliner(const Json& config) { return config.contains(kGliner) && config[kGliner].is_object(); }

ModelSource open_gliner(const SourcePath& named, const SourceOptions& /*options*/) {
  ModelSource source;
  source.files = named.files;
  const Json& settings = named.files->object(kGlinerSettings);
  const std::string name = text_of(settings, "model_name", "microsoft/deberta-v3-small");
  const auto encoder = settings.find("encoder_config");
  source.config = encoder != settings.end() && encoder->is_object() ? *encoder : named_encoder(name);
  if (!source.config.is_object()) {
    throw Error(ExitCode::kInvalid,
                fmt::format("{}: encoder_config: is missing, and the encoder {} is not known by its name; copy its "
                            "config.json into it as \"encoder_config\"",
                            named.files->path(kGlinerSettings).string(), name));
  }
  read_checkpoint(&source);
  const uint64_t rows = vocabulary(*source.checkpoint);
  if (rows != 0) source.config["vocab_size"] = rows;
  add_tokens(settings, rows, source.tokenizer);
  const bool none = !source.tokenizer.json.is_object() && !source.tokenizer.vocab && !source.tokenizer.merges &&
                    !source.tokenizer.pieces && source.tokenizer.unreadable.empty();
  if (none) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: holds no tokenizer; copy that of its encoder, {}, into it "
                                                "(tokenizer.json, or spm.model with tokenizer_config.json)",
                                                named.path.string(), name));
  }
  source.config.erase("architectures");
  source.config[kGliner] = settings;
  return source;
}

GlinerSettings read_gliner(const Fields& config) {
  GlinerSettings out;
  require_head(config);
  out.hidden = config.count("hidden_size", kMostColumns, 512);
  out.max_width = config.count("max_width", kMostWords, 12);
  out.max_words = config.count("max_len", kMostWords, 384);
  out.max_labels = std::max(kLabels, config.count("max_types", kMostWords, 25));
  const bool none = config.has("num_rnn_layers") && config.raw("num_rnn_layers") == 0;
  out.rnn_layers = none ? 0 : config.count("num_rnn_layers", kMostWordLayers, 1);
  out.behind = !config.flag("embed_ent_token", true);
  out.label_token = config.text("ent_token", "<<ENT>>");
  out.text_token = config.text("sep_token", "<<SEP>>");
  return out;
}

void name_gliner_encoder(const Json& config, ModelNames* names) {
  if (has_gliner(config)) names->other_bases.push_back(kGlinerEncoder);
}

GlinerPart gliner_part(const std::string& module) {
  if (module == "token_rep_layer.projection") return GlinerPart::kReadsEncoder;
  for (const char* own : {"rnn.", "span_rep_layer.", "prompt_rep_layer."}) {
    if (module.compare(0, std::string_view(own).size(), own) == 0) return GlinerPart::kOwn;
  }
  return GlinerPart::kNone;
}

Json gliner_settings_of(const Json& config) {
  Json settings = config.at(kGliner);
  Json encoder = config;
  encoder.erase(kGliner);
  settings["vocab_size"] = encoder["vocab_size"];
  settings["encoder_config"] = std::move(encoder);
  return settings;
}

uint32_t gliner_tokens(const GlinerSettings& settings) {
  constexpr uint32_t kOfLabels = 256;
  return 2 * settings.max_words + kOfLabels;
}

}  // namespace bantam::convert
