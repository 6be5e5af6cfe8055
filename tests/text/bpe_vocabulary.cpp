#include "tests/text/bpe_vocabulary.h"

#include <cstdio>

#include "text/utf8.h"
#include "tokenizer/byte_alphabet.h"

namespace bantam::tests {

std::string letters(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    uint8_t utf8[4];
    const uint32_t size = text::encode_utf8(convert::letter_of_byte(static_cast<uint8_t>(byte)), utf8);
    text.append(reinterpret_cast<const char*>(utf8), size);
  }
  return text;
}

nlohmann::json bpe_json(const Merges& merges) {
  nlohmann::json vocabulary = {{"<s>", 0}, {"</s>", 1}, {"<mask>", 2}};
  for (int byte = 0; byte < 256; ++byte) vocabulary[letters(std::string(1, static_cast<char>(byte)))] = byte + 3;
  nlohmann::json lines = nlohmann::json::array();
  int next = 259;
  for (const auto& [left, right] : merges) {
    lines.push_back(letters(left) + " " + letters(right));
    if (!vocabulary.contains(letters(left + right))) vocabulary[letters(left + right)] = next++;
  }
  nlohmann::json json;
  json["model"] = {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", lines}};
  json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  json["post_processor"] = {{"type", "RobertaProcessing"},
                            {"cls", {"<s>", 0}},
                            {"sep", {"</s>", 1}},
                            {"trim_offsets", true},
                            {"add_prefix_space", false}};
  json["added_tokens"] = {
      {{"id", 0}, {"content", "<s>"}, {"special", true}, {"normalized", false}},
      {{"id", 1}, {"content", "</s>"}, {"special", true}, {"normalized", false}},
      {{"id", 2}, {"content", "<mask>"}, {"special", true}, {"normalized", false}, {"lstrip", true}}};
  return json;
}

nlohmann::json whole_text_json(const Merges& merges) {
  nlohmann::json json = bpe_json(merges);
  json["pre_tokenizer"]["use_regex"] = false;
  json["post_processor"] = nullptr;
  return json;
}

nlohmann::json pieces_json(const std::vector<std::string>& pieces, const nlohmann::json& decoder) {
  nlohmann::json vocabulary = {{"<unk>", 0}};
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", static_cast<unsigned>(byte));
    vocabulary[name] = byte + 1;
  }
  for (size_t i = 0; i < pieces.size(); ++i) vocabulary[pieces[i]] = 257 + i;
  nlohmann::json json;
  json["model"] = {{"type", "BPE"},         {"vocab", vocabulary},  {"merges", nlohmann::json::array()},
                   {"byte_fallback", true}, {"unk_token", "<unk>"}, {"fuse_unk", true}};
  json["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "first"}, {"split", false}};
  json["decoder"] = decoder;
  return json;
}

nlohmann::json llama_decoder(int strip) {
  return {{"type", "Sequence"},
          {"decoders",
           {{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
            {{"type", "ByteFallback"}},
            {{"type", "Fuse"}},
            {{"type", "Strip"}, {"content", " "}, {"start", strip}, {"stop", 0}}}}};
}

}  // namespace bantam::tests
