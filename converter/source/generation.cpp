#include "source/generation.h"

#include <fmt/format.h>

#include <string_view>

namespace bantam::convert {
namespace {

/// The settings that are read below.
constexpr const char* kGenerationSettings[] = {
    "eos_token_id",         "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id",
    "bad_words_ids",        "suppress_tokens",        "max_length",          "max_new_tokens",
    "min_length",           "min_new_tokens",         "num_beams",           "length_penalty",
    "early_stopping",       "no_repeat_ngram_size",   "repetition_penalty",  "encoder_no_repeat_ngram_size",
    "begin_suppress_tokens"};

constexpr uint32_t kMostLength = 1U << 20;
constexpr uint32_t kMostBeams = 1U << 8;
constexpr size_t kMostBanned = 1U << 12;
constexpr size_t kMostNamed = 32;

/// An integer from 0 to `most`; 0 if it is absent.
uint32_t number(const Fields& config, const char* key, uint32_t most) {
  if (!config.has(key) || config.raw(key).is_null()) return 0;
  const Json& value = config.raw(key);
  if (value.is_number_unsigned() && value.get<uint64_t>() <= most) return value.get<uint32_t>();
  config.problem(ExitCode::kInvalid, key, fmt::format("{} is not a whole number up to {}", value.dump(), most));
  return 0;
}

float real(const Fields& config, const char* key, float otherwise, float least, float most) {
  if (!config.has(key) || config.raw(key).is_null()) return otherwise;
  const double value = config.number(key, static_cast<double>(otherwise));
  if (value >= static_cast<double>(least) && value <= static_cast<double>(most)) return static_cast<float>(value);
  config.problem(ExitCode::kInvalid, key, fmt::format("{} is not between {} and {}", value, least, most));
  return otherwise;
}

fb::EarlyStopping read_early_stopping(const Fields& config) {
  constexpr const char* kKey = "early_stopping";
  if (!config.has(kKey) || config.raw(kKey).is_null()) return fb::EarlyStopping::no;
  const Json& value = config.raw(kKey);
  if (value.is_boolean()) return value.get<bool>() ? fb::EarlyStopping::yes : fb::EarlyStopping::no;
  if (value == "never") return fb::EarlyStopping::never;
  config.problem(ExitCode::kInvalid, kKey, fmt::format("{} is not true, false or \"never\"", value.dump()));
  return fb::EarlyStopping::no;
}

bool is_token(const Json& value, uint32_t vocabulary) {
  return value.is_number_unsigned() && value.get<uint64_t>() < vocabulary;
}

/// Reads the lists of `keys`, whose items are lists of one token. Longer items, which ban sequences of tokens, are not
/// supported.
void read_banned(const Fields& config, std::initializer_list<const char*> keys, uint32_t vocabulary,
                 std::vector<int32_t>* banned) {
  const auto add = [&](const char* key, const Json& id) {
    if (id.is_number_unsigned() && !is_token(id, vocabulary)) return;  // no text contains such a token
    if (!is_token(id, vocabulary)) {
      config.problem(ExitCode::kInvalid, key, fmt::format("{} is not a token of {}", id.dump(), vocabulary));
    } else if (banned->size() < kMostBanned) {
      banned->push_back(id.get<int32_t>());
    }
  };
  for (const char* key : keys) {
    if (!config.has(key) || !config.raw(key).is_array()) continue;
    for (const Json& value : config.raw(key)) {
      const bool list = value.is_array();
      if (list && value.size() != 1) {
        config.problem(ExitCode::kUnsupported, key,
                       fmt::format("{}: rows of tokens cannot be forbidden", value.dump()));
        continue;
      }
      add(key, list ? value.front() : value);
    }
  }
}

std::unique_ptr<fb::GenerationT> read_generation(const Fields& config, uint32_t vocabulary, bool starts,
                                                 const char* start_otherwise) {
  auto out = std::make_unique<fb::GenerationT>();
  out->prefix = config.text("prefix", "");
  if (starts) {
    // As in transformers' generate().
    const bool begins = start_otherwise != nullptr && config.has("bos_token_id");
    out->start_id = read_start(config, vocabulary, begins ? "bos_token_id" : start_otherwise);
    if (out->start_id < 0) config.problem(ExitCode::kInvalid, "decoder_start_token_id", kStartIsMissing);
    out->first_id = read_token(config, "forced_bos_token_id", vocabulary);
    out->last_id = read_token(config, "forced_eos_token_id", vocabulary);
    // Lengths of the decoder's text include the start token.
    const auto behind_start = [](uint32_t length) { return length == 0 ? 0 : length - 1; };
    out->max_new = behind_start(number(config, "max_length", kMostLength));
    out->min_new = behind_start(number(config, "min_length", kMostLength));
    const uint32_t beams = number(config, "num_beams", kMostBeams);
    out->beams = beams == 0 ? 1 : beams;
    out->length_penalty = real(config, "length_penalty", 1, -100, 100);
    out->early_stopping = read_early_stopping(config);
  }
  const uint32_t most = number(config, "max_new_tokens", kMostLength),
                 least = number(config, "min_new_tokens", kMostLength);
  if (most != 0) out->max_new = most;
  if (least != 0) out->min_new = least;
  read_banned(config, {"bad_words_ids", "suppress_tokens"}, vocabulary, &out->banned);
  const size_t always = out->banned.size();
  read_banned(config, {"begin_suppress_tokens"}, vocabulary, &out->banned);
  out->begin_banned = static_cast<uint32_t>(out->banned.size() - always);
  out->source_no_repeat_ngram = number(config, "encoder_no_repeat_ngram_size", kMostLength);
  out->no_repeat_ngram = number(config, "no_repeat_ngram_size", kMostLength);
  out->repetition_penalty = real(config, "repetition_penalty", 1, 0.01F, 100);
  const bool said = starts || out->max_new != 0 || out->min_new != 0 || !out->banned.empty() ||
                    out->no_repeat_ngram != 0 || out->repetition_penalty != 1 || out->source_no_repeat_ngram != 0;
  return said ? std::move(out) : nullptr;
}

}  // namespace

void add_generation_settings(const Directory& files, const std::string& folder, Json* config) {
  const std::string file = name_in(folder, kGenerationFile);
  if (!files.has_file(file)) return;
  const Json& settings = files.object(file);
  // If the file exists, transformers ignores config.json's settings. Without a start and an end token no text could be
  // generated.
  const bool copied = settings.value("_from_model_config", Json()) == true;  // then config.json still applies
  for (const char* key : kGenerationSettings) {
    const std::string_view name = key;
    if (!copied && name != "eos_token_id" && name != "decoder_start_token_id") config->erase(key);
  }
  for (const char* key : kGenerationSettings) {
    if (settings.contains(key) && !settings.at(key).is_null()) (*config)[key] = settings.at(key);
  }
}

int32_t read_token(const Fields& config, const std::string& key, uint32_t vocabulary) {
  if (!config.has(key) || config.raw(key).is_null()) return -1;
  const Json& id = config.raw(key);
  if (is_token(id, vocabulary)) return id.get<int32_t>();
  config.problem(ExitCode::kInvalid, key, fmt::format("{} is not a token of {}", id.dump(), vocabulary));
  return -1;
}

int32_t read_start(const Fields& config, uint32_t vocabulary, const char* otherwise) {
  constexpr const char* kStart = "decoder_start_token_id";
  return config.has(kStart) || otherwise == nullptr ? read_token(config, kStart, vocabulary)
                                                    : read_token(config, otherwise, vocabulary);
}

std::vector<int32_t> read_end_ids(const Fields& config, uint32_t vocabulary) {
  constexpr const char* kKey = "eos_token_id";
  std::vector<int32_t> ids;
  if (!config.has(kKey)) return ids;
  const Json& value = config.raw(kKey);
  for (const Json& id : value.is_array() ? value : Json::array({value})) {
    if (!is_token(id, vocabulary)) {
      config.problem(ExitCode::kInvalid, kKey, fmt::format("{} is not a token of {}", id.dump(), vocabulary));
      return ids;
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

std::vector<std::unique_ptr<fb::GenerationT>> read_generations(const Fields& config, uint32_t vocabulary, bool starts,
                                                               const char* start_otherwise) {
  std::vector<std::unique_ptr<fb::GenerationT>> out;
  if (auto whole = read_generation(config, vocabulary, starts, start_otherwise)) out.push_back(std::move(whole));
  constexpr const char* kKey = "task_specific_params";
  if (!starts || out.empty() || !config.has(kKey) || !config.raw(kKey).is_object()) return out;
  for (const auto& [name, params] : config.raw(kKey).items()) {
    if (!params.is_object() || out.size() > kMostNamed) continue;
    Json changed = config.whole();
    changed.update(params);
    auto way =
        read_generation(config.of(changed, fmt::format("{}: {}", kKey, name)), vocabulary, starts, start_otherwise);
    way->name = name;
    out.push_back(std::move(way));
  }
  return out;
}

}  // namespace bantam::convert
