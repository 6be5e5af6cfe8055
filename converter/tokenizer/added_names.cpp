// Tokens that are named in files other than the vocabulary: added_tokens.json, special_tokens_map.json,
// tokenizer_config.json.
#include <algorithm>
#include <array>
#include <string>

#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace {

constexpr std::array<const char*, 7> kNamed = {"bos_token", "eos_token", "unk_token", "sep_token",
                                               "pad_token", "cls_token", "mask_token"};
/// Default names of special tokens in classes of transformers.
constexpr std::array<const char*, 10> kUsual = {"[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]",
                                                "<s>",   "</s>",  "<unk>", "<pad>", "<mask>"};
constexpr std::array<const char*, 3> kLists = {"extra_special_tokens", "additional_special_tokens",
                                               "model_specific_special_tokens"};
constexpr const char* kDecoder = "added_tokens_decoder";

/// A token: a string, or an object with "content".
std::string named_text(const Json& token) {
  const Json& text = token.is_object() ? member(token, "content") : token;
  return text.is_string() ? text.get<std::string>() : std::string();
}

bool truth_in(const Json& token, const char* key) {
  const Json& value = member(token, key);
  return value.is_boolean() && value.get<bool>();
}

/// Visits the items of all lists of special tokens.
template <typename Visit>
void visit_lists(const Json& config, Visit&& visit) {
  const auto each = [&](const Json& list) {
    for (auto item = list.begin(); (list.is_array() || list.is_object()) && item != list.end(); ++item) visit(*item);
  };
  for (const char* key : kLists) each(member(config, key));
}

bool is_special(const std::string& text, const Json& config) {
  bool special = std::find(kUsual.begin(), kUsual.end(), text) != kUsual.end();
  for (const char* key : kNamed) special = special || named_text(member(config, key)) == text;
  visit_lists(config, [&](const Json& token) { special = special || named_text(token) == text; });
  return special;
}

/// Returns true if tokenizer.json adds the token, or another with its id.
bool is_in_file(const std::string& text, const Json& id, const Json& json) {
  const Json& list = member(json, "added_tokens");
  const auto same = [&](const Json& token) { return named_text(token) == text || member(token, "id") == id; };
  return list.is_array() && std::any_of(list.begin(), list.end(), same);
}

AddedSource special_token(const Json& token) {
  AddedSource added;
  added.text = named_text(token);
  added.special = true;
  added.single_word = truth_in(token, "single_word");
  added.lstrip = truth_in(token, "lstrip");
  added.rstrip = truth_in(token, "rstrip");
  added.normalized = truth_in(token, "normalized");
  return added;
}

}  // namespace

Json complete_config(const TokenizerFiles& files) {
  Json config = files.config.is_object() ? files.config : Json::object();
  if (member(config, kDecoder).is_object()) return config;
  for (auto named = files.special.begin(); files.special.is_object() && named != files.special.end(); ++named) {
    config[named.key()] = *named;
  }
  if (!files.added.is_object() || files.added.empty()) return config;
  Json decoder = Json::object();
  for (const auto& [text, id] : files.added.items()) {
    if (!id.is_number_unsigned() || is_in_file(text, id, files.json)) continue;
    const bool special = is_special(text, config);
    decoder[id.dump()] = {{"content", text}, {"special", special}, {"normalized", !special}};
  }
  config[kDecoder] = std::move(decoder);
  return config;
}

void read_added_names(const Json& config, TokenizerSource& source, ProblemList& problems) {
  if (!problems.empty()) return;
  const bool whole = source.file == "tokenizer.json";
  const auto find = [&source](const std::string& text) {
    return std::find_if(source.added.begin(), source.added.end(),
                        [&](const auto& token) { return token.text == text; });
  };
  TokenizerSource stated;
  read_added_tokens(config, "tokenizer_config.json", stated, problems);
  for (AddedSource& token : stated.added) {
    const auto same = find(token.text);
    if (same == source.added.end()) {
      source.added.push_back(std::move(token));
    } else if (whole) {
      token.id = same->id;
      *same = std::move(token);
    }
  }
  const auto add = [&](const Json& json) {
    const std::string text = named_text(json);
    if (!text.empty() && find(text) == source.added.end()) source.added.push_back(special_token(json));
  };
  for (const char* key : kNamed) {
    const bool unknown = std::string_view(key) == "unk_token";  // the model itself requires it
    if (whole || !unknown) add(member(config, key));
  }
  visit_lists(config, add);
}

}  // namespace bantam::convert
