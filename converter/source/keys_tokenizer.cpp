// Keys of a tokenizer's files that contradict each other. transformers lets tokenizer_config.json change what tokenizer.json says
// for some classes, and adds tokens that other files name; bantam follows tokenizer.json.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "source/keys.h"

namespace bantam::convert {
namespace {

constexpr const char* kSettingsFile = "tokenizer_config.json";
constexpr const char* kFollowed = "tokenizer.json says otherwise and is followed; transformers follows this file";

const Json& key_of(const Json& json, const char* key) {
  static const Json kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(key);
  return found == json.end() ? kNull : *found;
}

bool truth_of(const Json& json, const char* key, bool otherwise) {
  const Json& value = key_of(json, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}

/// A token: a text, or an object with "content".
std::string content_of(const Json& token) {
  const Json& text = token.is_object() ? key_of(token, "content") : token;
  return text.is_string() ? text.get<std::string>() : std::string();
}

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  for (const std::string_view& other : names) {
    if (name == other) return true;
  }
  return false;
}

/// Words that the tokenizer's own files have, with their numbers where they say them.
class KnownWords {
 public:
  explicit KnownWords(const TokenizerFiles& files) : files_(files) {
    const Json& added = key_of(files.json, "added_tokens");
    for (size_t i = 0; added.is_array() && i < added.size(); ++i) add(added[i], key_of(added[i], "id"));
    if (files.json.is_object()) return;
    const Json& decoder = key_of(files.config, "added_tokens_decoder");
    for (auto token = decoder.begin(); decoder.is_object() && token != decoder.end(); ++token) {
      numbers_[content_of(*token)] = token.key();
    }
    if (!files.vocab) return;
    size_t number = 0, at = 0;
    while (at < files.vocab->size()) {
      const size_t end = std::min(files.vocab->find('\n', at), files.vocab->size());
      size_t length = end - at;
      if (length > 0 && (*files.vocab)[at + length - 1] == '\r') --length;
      numbers_[files.vocab->substr(at, length)] = std::to_string(number++);
      at = end + 1;
    }
  }

  /// Is it there, with this number if one is given?
  bool has(const std::string& word, const Json& number = nullptr) const {
    const auto found = numbers_.find(word);
    if (found != numbers_.end()) return number.is_null() || number.dump() == found->second;
    for (const Json* words : {&key_of(key_of(files_.json, "model"), "vocab"), &files_.letters}) {
      if (words->is_object() && words->contains(word)) return number.is_null() || words->at(word) == number;
    }
    const auto piece = pieces().find(word);
    if (piece != pieces().end()) return number.is_null() || number == piece->second;
    const bool model = !files_.json.is_object() && files_.pieces.has_value();
    if (!model || !number.is_null()) return false;
    return ++searches_ > kMostSearches || files_.pieces->bytes.find(word) != std::string::npos;
  }

  /// Are there words at all?
  bool any() const {
    return files_.json.is_object() || files_.vocab || files_.letters.is_object() ||
           (files_.pieces && !files_.pieces->bytes.empty());
  }

 private:
  static constexpr int kMostSearches = 64;  // of a whole SentencePiece model

  void add(const Json& token, const Json& number) { numbers_[content_of(token)] = number.dump(); }

  /// Pieces of a unigram model with their places; made where the first one is looked for.
  const std::unordered_map<std::string, size_t>& pieces() const {
    const Json& list = key_of(key_of(files_.json, "model"), "vocab");
    if (!places_.empty() || !list.is_array()) return places_;
    for (size_t i = 0; i < list.size(); ++i) {
      const bool named = list[i].is_array() && !list[i].empty() && list[i][0].is_string();
      if (named) places_.emplace(list[i][0].get<std::string>(), i);
    }
    return places_;
  }

  const TokenizerFiles& files_;
  std::unordered_map<std::string, std::string> numbers_;
  mutable std::unordered_map<std::string, size_t> places_;
  mutable int searches_ = 0;
};

class Contradictions {
 public:
  explicit Contradictions(const ModelSource& source) : source_(source), files_(source.tokenizer), words_(files_) {}

  std::vector<SourceKey> run() {
    if (files_.words != nullptr || !words_.any()) return {};
    const bool stated = files_.config.is_object() && has(kSettingsFile);
    if (stated && files_.json.is_object()) {
      std::string name = content_of(key_of(files_.config, "tokenizer_class"));
      constexpr std::string_view kFast = "Fast";
      if (name.size() > kFast.size() && name.substr(name.size() - kFast.size()) == kFast) {
        name.resize(name.size() - kFast.size());
      }
      read_letters(name);
      read_blank(name);
      read_ends();
    }
    if (stated) read_named(kSettingsFile, files_.config);
    if (has("special_tokens_map.json")) read_named("special_tokens_map.json", files_.special);
    read_added();
    return std::move(found_);
  }

 private:
  bool has(const char* name) const { return source_.files->has_file(source_.name_inside(name)); }

  void tell(const char* file, const std::string& key, const std::string& value, const std::string& effect) {
    constexpr size_t kMostLetters = 80;
    if (found_.size() > kMostSourceKeys || !said_.insert(key).second) return;
    found_.push_back(
        {file, key.size() > kMostLetters ? key.substr(0, kMostLetters) : key, value.substr(0, kMostLetters), effect});
  }

  /// `otherwise` is what transformers takes where the key is missing; without it a missing key says nothing.
  void compare(const char* key, bool file, std::optional<bool> otherwise) {
    const Json& value = key_of(files_.config, key);
    if (value.is_boolean() ? value == file : !otherwise || *otherwise == file) return;
    const std::string shown = value.is_boolean() ? value.dump() : fmt::format("missing, which means {}", *otherwise);
    tell(kSettingsFile, key, shown, kFollowed);
  }

  /// BERT's letters. Classes that keep this normalizer whatever the file says.
  void read_letters(const std::string& name) {
    const Json& normalizer = key_of(files_.json, "normalizer");
    if (key_of(normalizer, "type") != "BertNormalizer") return;
    constexpr std::array<std::string_view, 9> kNames = {"BertTokenizer",   "DistilBertTokenizer",  "ElectraTokenizer",
                                                        "MPNetTokenizer",  "MobileBertTokenizer",  "ConvBertTokenizer",
                                                        "FunnelTokenizer", "SqueezeBertTokenizer", "LayoutLMTokenizer"};
    if (!is_one_of(name, kNames)) return;
    const bool lowercase = truth_of(normalizer, "lowercase", true);
    compare("do_lower_case", lowercase, true);
    compare("tokenize_chinese_chars", truth_of(normalizer, "handle_chinese_chars", true), true);
    compare("strip_accents", truth_of(normalizer, "strip_accents", lowercase), std::nullopt);
  }

  /// The blank in front of a text.
  void read_blank(const std::string& name) {
    const Json& splitter = key_of(files_.json, "pre_tokenizer");
    if (key_of(splitter, "type") != "ByteLevel") return;
    constexpr std::array<std::string_view, 2> kNames = {"RobertaTokenizer", "GPT2Tokenizer"};
    std::optional<bool> otherwise;
    if (is_one_of(name, kNames)) otherwise = false;
    compare("add_prefix_space", truth_of(splitter, "add_prefix_space", true), otherwise);
  }

  /// Tokens in front of a text and behind it.
  void read_ends() {
    const Json& processor = key_of(files_.json, "post_processor");
    const std::string adds = processor.is_null() ? "" : processor.dump();
    using End = std::pair<const char*, const char*>;
    for (const auto& [key, token] : {End("add_bos_token", "bos_token"), End("add_eos_token", "eos_token")}) {
      const std::string word = content_of(key_of(files_.config, token));
      if (!word.empty()) compare(key, adds.find(Json(word).dump()) != std::string::npos, std::nullopt);
    }
  }

  void read_word(const char* file, const std::string& key, const Json& token) {
    const std::string word = content_of(token);
    if (word.empty() || words_.has(word)) return;
    tell(file, key, Json(word).dump(-1, ' ', true),
         "is no token of the tokenizer's files; transformers adds it, bantam splits it like other text");
  }

  /// Special tokens by their names.
  void read_named(const char* file, const Json& json) {
    for (const char* key :
         {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}) {
      read_word(file, key, key_of(json, key));
    }
    const auto each = [&](const std::string& key, const Json& list) {
      if (!list.is_array() && !list.is_object()) return;
      for (const auto& [name, token] : list.items()) read_word(file, fmt::format("{}[{}]", key, name), token);
    };
    each("extra_special_tokens", key_of(json, "extra_special_tokens"));
    each("model_specific_special_tokens", key_of(json, "model_specific_special_tokens"));
    if (!files_.json.is_object()) return;  // else bantam adds these, too
    each("additional_special_tokens", key_of(json, "additional_special_tokens"));
    each("added_tokens_decoder", key_of(json, "added_tokens_decoder"));
  }

  void read_added() {
    constexpr const char* kAdded = "added_tokens.json";
    if (!has(kAdded)) return;
    try {
      for (const auto& [word, number] : source_.files->object(source_.name_inside(kAdded)).items()) {
        if (words_.has(word, number)) continue;
        tell(kAdded, word, number.dump(),
             "bantam does not read this file: the token falls apart, or has another number");
      }
    } catch (const Error&) {
      // Nothing reads the file.
    }
  }

  const ModelSource& source_;
  const TokenizerFiles& files_;
  KnownWords words_;
  std::vector<SourceKey> found_;
  std::set<std::string> said_;
};

}  // namespace

std::vector<SourceKey> contradicting_keys(const ModelSource& source) { return Contradictions(source).run(); }

}  // namespace bantam::convert
