// Reads vocab.txt with tokenizer_config.json and special_tokens_map.json as transformers' BertTokenizer does.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace {

constexpr double kAbsurdLength = 1e9;  // transformers writes 1e30 for "no limit"

bool flag(const Json& config, const char* key, bool otherwise, const std::string& file, ProblemList& problems) {
  const Json& value = member(config, key);
  if (value.is_null()) return otherwise;
  if (value.is_boolean()) return value.get<bool>();
  problems.push_back(fmt::format("{}: {}: should be true or false", file, key));
  return otherwise;
}

/// A special token: a string, or an object with "content".
std::string token_text(const Json& value) {
  const Json& content = value.is_object() ? member(value, "content") : value;
  return content.is_string() ? content.get<std::string>() : std::string();
}

bool optional_flag(const Json& value, const char* key, bool otherwise) {
  const Json& found = member(value, key);
  return found.is_boolean() ? found.get<bool>() : otherwise;
}

void add(TokenizerSource& source, AddedSource token) {
  const auto same = [&token](const AddedSource& other) { return other.text == token.text; };
  if (!token.text.empty() && std::none_of(source.added.begin(), source.added.end(), same)) {
    source.added.push_back(std::move(token));
  }
}

/// Tokenizers that treat vocab.txt exactly as BERT's does.
bool is_bert_like(std::string_view name) {
  if (name.size() > 4 && name.substr(name.size() - 4) == "Fast") name.remove_suffix(4);
  constexpr std::array<std::string_view, 9> kNames = {
      "BertTokenizer",        "DistilBertTokenizer", "ElectraTokenizer",  "MobileBertTokenizer", "ConvBertTokenizer",
      "SqueezeBertTokenizer", "FunnelTokenizer",     "LayoutLMTokenizer", "PreTrainedTokenizer"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// transformers truncates texts at model_max_length; tokenizer.json's own truncation is for programs that use that file
/// alone.
void read_greatest_length(const Json& length, const std::string& file, TokenizerSource& source) {
  if (!length.is_number() || length.get<double>() < 1) return;
  const uint32_t alone = source.max_length;
  const bool limited = length.get<double>() < kAbsurdLength;
  source.max_length = limited ? static_cast<uint32_t>(length.get<double>()) : 0;
  if (alone == 0 || alone == source.max_length) return;
  source.notes.push_back(
      fmt::format("tokenizer.json truncates texts at {} tokens, {} {}, which is followed, as "
                  "transformers does",
                  alone, file, limited ? fmt::format("at {}", source.max_length) : "states no limit"));
}

}  // namespace

void read_added_tokens(const Json& config, const std::string& file, TokenizerSource& source, ProblemList& problems) {
  const Json& decoder = member(config, "added_tokens_decoder");
  if (!decoder.is_object()) return;
  std::vector<AddedSource> tokens;
  for (const auto& [key, value] : decoder.items()) {
    AddedSource token;
    token.text = token_text(value);
    const bool is_number = !key.empty() && key.size() < 10 &&
                           std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number || token.text.empty()) {
      problems.push_back(
          fmt::format("{}: added_tokens_decoder: \"{}\" should be an id with an object that has "
                      "\"content\"",
                      file, key));
      continue;
    }
    token.id = std::stoll(key);
    token.special = optional_flag(value, "special", false);
    token.single_word = optional_flag(value, "single_word", false);
    token.lstrip = optional_flag(value, "lstrip", false);
    token.rstrip = optional_flag(value, "rstrip", false);
    token.normalized = optional_flag(value, "normalized", !token.special);
    tokens.push_back(token);
  }
  std::sort(tokens.begin(), tokens.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  for (AddedSource& token : tokens) add(source, std::move(token));
}

void read_vocabulary_text(const std::string& text, const std::string& file, const Json& config,
                          const std::string& config_file, TokenizerSource& source, ProblemList& problems) {
  source.file = file;
  const std::string name = token_text(member(config, "tokenizer_class"));
  if (!name.empty() && !is_bert_like(name)) {
    problems.push_back(
        fmt::format("{}: tokenizer_class: \"{}\" is not supported from vocab.txt; save the tokenizer "
                    "with transformers so that the directory has a tokenizer.json",
                    config_file, name));
  }
  if (!flag(config, "do_basic_tokenize", true, config_file, problems)) {
    problems.push_back(
        fmt::format("{}: do_basic_tokenize: false is not supported; this version splits words as BERT "
                    "does",
                    config_file));
  }
  const Json& never_split = member(config, "never_split");
  if (!never_split.is_null() && !never_split.empty()) {
    problems.push_back(
        fmt::format("{}: never_split: is not supported; list the tokens in added_tokens of a "
                    "tokenizer.json",
                    config_file));
  }
  source.bert.clean_text = true;
  source.bert.split_chinese = flag(config, "tokenize_chinese_chars", true, config_file, problems);
  source.bert.lowercase = flag(config, "do_lower_case", true, config_file, problems);
  source.bert.strip_accents = flag(config, "strip_accents", source.bert.lowercase, config_file, problems);
  source.model.continuing_prefix = "##";

  std::vector<std::string> words;
  // A word that is listed twice has the id of its last line, as in transformers.
  std::map<std::string, size_t> last;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    size_t length = end - at;
    if (length > 0 && text[at + length - 1] == '\r') --length;
    words.push_back(text.substr(at, length));
    last[words.back()] = words.size() - 1;
    at = end + 1;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    if (last[words[i]] == i) source.vocabulary.emplace_back(words[i], static_cast<int64_t>(i));
  }
  if (last.size() < words.size()) {
    source.notes.push_back(fmt::format("{}: {} of {} lines repeat a word; as in transformers, its last line counts",
                                       file, words.size() - last.size(), words.size()));
  }
  using Piece = fb::TemplatePiece;
  const Piece cls(kTemplateCls, -1, 0);
  source.single = {cls, Piece(-1, 0, 0), Piece(kTemplateSep, -1, 0)};
  source.pair = {cls, Piece(-1, 0, 0), Piece(kTemplateSep, -1, 0), Piece(-1, 1, 1), Piece(kTemplateSep, -1, 1)};
}

void read_tokenizer_config(const Json& config, const std::string& file, TokenizerSource& source,
                           ProblemList& problems) {
  const std::array<std::pair<const char*, std::string*>, 5> names = {{{"unk_token", &source.unknown},
                                                                      {"pad_token", &source.pad},
                                                                      {"cls_token", &source.cls},
                                                                      {"sep_token", &source.sep},
                                                                      {"mask_token", &source.mask}}};
  for (const auto& [key, target] : names) {
    const Json& value = member(config, key);
    if (value.is_null()) continue;
    const std::string text = token_text(value);
    if (text.empty()) {
      problems.push_back(fmt::format("{}: {}: should be a token, or an object with \"content\"", file, key));
    } else if (target != &source.unknown || source.file != "tokenizer.json") {
      *target = text;  // tokenizer.json names its own unknown token
    }
  }
  read_greatest_length(member(config, "model_max_length"), file, source);
  const Json& side = member(config, "truncation_side");
  if (side == "left") source.truncate_left = true;
}

}  // namespace bantam::convert
