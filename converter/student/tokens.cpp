#include "student/tokens.h"

#include <algorithm>
#include <map>

#include "source/gliner.h"

namespace bantam::convert {
namespace {

using Numbers = std::map<uint64_t, uint64_t>;  // maps old ids to new ids

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

void renumber(Json& id, const Numbers& numbers) {
  if (!id.is_number_unsigned()) return;
  const auto found = numbers.find(id.get<uint64_t>());
  if (found != numbers.end()) id = found->second;
}

/// Renumbers a TemplateProcessing, a BertProcessing, or a Sequence of them.
void renumber_processor(Json& processor, const Numbers& numbers) {
  if (!processor.is_object()) return;
  if (processor.contains("processors") && processor["processors"].is_array()) {
    for (Json& part : processor["processors"]) renumber_processor(part, numbers);
  }
  if (processor.contains("special_tokens") && processor["special_tokens"].is_object()) {
    for (auto& [name, token] : processor["special_tokens"].items()) {
      if (!token.is_object() || !token.contains("ids") || !token["ids"].is_array()) continue;
      for (Json& id : token["ids"]) renumber(id, numbers);
    }
  }
  for (const char* key : {"sep", "cls"}) {
    if (processor.contains(key) && processor[key].is_array() && processor[key].size() == 2) {
      renumber(processor[key][1], numbers);
    }
  }
}

void renumber_json(Json& json, const Numbers& numbers) {
  Json vocabulary = Json::object();
  for (const auto& [token, id] : json["model"]["vocab"].items()) {
    const auto found = numbers.find(id.get<uint64_t>());
    if (found != numbers.end()) vocabulary[token] = found->second;
  }
  json["model"]["vocab"] = std::move(vocabulary);
  if (json.contains("added_tokens") && json["added_tokens"].is_array()) {
    for (Json& token : json["added_tokens"]) {
      if (token.is_object() && token.contains("id")) renumber(token["id"], numbers);
    }
  }
  if (json.contains("post_processor")) renumber_processor(json["post_processor"], numbers);
  if (json.contains("padding") && json["padding"].is_object() && json["padding"].contains("pad_id")) {
    renumber(json["padding"]["pad_id"], numbers);
  }
}

/// Renumbers {"0": {...}}, whose keys are ids.
void renumber_decoder(Json& config, const Numbers& numbers) {
  if (!config.is_object() || !config.contains("added_tokens_decoder")) return;
  Json out = Json::object();
  for (const auto& [id, token] : config["added_tokens_decoder"].items()) {
    Json number;
    std::string problem;
    if (!parse_json(id, &number, &problem)) number = id;  // not a number: it stays unchanged
    renumber(number, numbers);
    out[number.is_string() ? id : number.dump()] = token;
  }
  config["added_tokens_decoder"] = std::move(out);
}

}  // namespace

std::vector<std::string> tokens_of(const TokenizerFiles& files) {
  if (!files.json.is_object()) return files.vocab ? lines_of(*files.vocab) : std::vector<std::string>{};
  std::vector<std::string> tokens;
  for (const auto& [token, id] : files.json["model"]["vocab"].items()) {
    const auto place = id.get<size_t>();
    if (place >= tokens.size()) tokens.resize(place + 1);
    tokens[place] = token;
  }
  return tokens;
}

void renumber_tokens(const Indices& kept, TokenizerFiles& files, Json& settings) {
  Numbers numbers;
  for (size_t i = 0; i < kept.size(); ++i) numbers[kept[i]] = i;
  if (files.json.is_object()) renumber_json(files.json, numbers);
  if (files.vocab) {
    const std::vector<std::string> lines = lines_of(*files.vocab);
    std::string text;
    for (const uint32_t id : kept) {
      if (id < lines.size()) text += lines[id] + "\n";
    }
    files.vocab = text;
  }
  renumber_decoder(files.config, numbers);
  if (has_gliner(settings) && settings[kGliner].contains("class_token_index")) {
    renumber(settings[kGliner]["class_token_index"], numbers);
  }
  for (const char* key : {"pad_token_id", "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id",
                          "unk_token_id", "mask_token_id"}) {
    if (settings.contains(key)) renumber(settings[key], numbers);
  }
}

}  // namespace bantam::convert
