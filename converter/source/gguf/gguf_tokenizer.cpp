#include "source/gguf/gguf_tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "source/gguf/gguf_splits.h"
#include "tokenizer/sentencepiece_model.h"

namespace bantam::convert {
namespace {

constexpr std::string_view kMark = "\u2581";
constexpr const char* kPrefix = "tokenizer.ggml.";

/// The values of "tokenizer.ggml.token_type" are SentencePiece's.
using GgufTokenKind = SentencePiece::Kind;

class TokenizerMaker {
 public:
  explicit TokenizerMaker(const GgufFile& file) : file_(file) {}

  TokenizerFiles make() {
    const Json& tokens = value("tokens");
    const std::string model = file_.text(key("model"));
    if (tokens.is_null() && model.empty()) return std::move(files_);
    if (!tokens.is_array() || tokens.empty() || !is_all(tokens, &Json::is_string)) {
      problem("tokens", "should be a list of texts");
      return std::move(files_);
    }
    for (const Json& token : tokens) tokens_.push_back(token.get<std::string>());
    if (!read_kinds()) return std::move(files_);
    files_.json_name = name();
    if (model == "bert") {
      read_word_pieces();
    } else if (model == "gpt2") {
      read_bpe();
    } else if (model == "llama") {
      read_sentence_pieces();
    } else if (model == "t5") {
      read_unigram();
    } else {
      unsupported("model", fmt::format("\"{}\" is not supported; bert, gpt2, llama and t5 are; {}", printable(model),
                                       kWithoutTokenizer));
    }
    name_specials();
    files_.chat = file_.text("tokenizer.chat_template");
    return std::move(files_);
  }

 private:
  static std::string key(const std::string& name) { return kPrefix + name; }
  std::string name() const { return file_.path().filename().string(); }
  const Json& value(const std::string& name) const { return file_.value(key(name)); }
  void problem(const std::string& name, const std::string& what) {
    files_.unreadable.push_back(fmt::format("{}: {}: {}", file_.path().filename().string(), key(name), what));
  }
  /// Reports a valid but unsupported feature.
  void unsupported(const std::string& name, const std::string& what) {
    problem(name, what);
    ++files_.unsupported;
  }
  static bool is_all(const Json& list, bool (Json::*is)() const noexcept) {
    return std::all_of(list.begin(), list.end(), [is](const Json& item) { return (item.*is)(); });
  }

  /// Reads the kind of each token; tokens are normal if the file does not say.
  bool read_kinds() {
    kinds_.assign(tokens_.size(), GgufTokenKind::kNormal);
    const Json& kinds = value("token_type");
    if (kinds.is_null()) return true;
    if (!kinds.is_array() || kinds.size() != tokens_.size() || !is_all(kinds, &Json::is_number_integer)) {
      problem("token_type", fmt::format("should be a list of {} whole numbers, one a token", tokens_.size()));
      return false;
    }
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const auto kind = kinds[i].get<int64_t>();
      if (kind >= GgufTokenKind::kNormal && kind <= GgufTokenKind::kByte) kinds_[i] = static_cast<GgufTokenKind>(kind);
    }
    return true;
  }

  std::vector<float> scores() {
    std::vector<float> out;
    const Json& list = value("scores");
    if (!list.is_array() || list.size() != tokens_.size() || !is_all(list, &Json::is_number)) {
      problem("scores", fmt::format("should be a list of {} numbers, one a token", tokens_.size()));
      return std::vector<float>(tokens_.size(), 0.0F);
    }
    for (const Json& score : list) out.push_back(score.get<float>());
    return out;
  }

  /// The token id under a key; -1: none, or a problem.
  int64_t id(const char* which) {
    const int64_t found = file_.count(key(which), -1);
    if (found < static_cast<int64_t>(tokens_.size())) return found;
    problem(which, fmt::format("{} is none of the {} tokens", found, tokens_.size()));
    return -1;
  }
  std::string token(int64_t number) const { return number < 0 ? "" : tokens_[static_cast<size_t>(number)]; }
  /// Older files misspell the key of the separator.
  int64_t separator() {
    const int64_t other = id("seperator_token_id");
    return other >= 0 ? other : id("separator_token_id");
  }

  Json special(int64_t number) const {
    return {{"id", number},    {"content", token(number)}, {"special", true},    {"single_word", false},
            {"lstrip", false}, {"rstrip", false},          {"normalized", false}};
  }

  /// Tokens that are searched for in texts: control tokens, user-defined ones and the unknown token.
  Json added() const {
    Json list = Json::array();
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (kinds_[i] != GgufTokenKind::kControl && kinds_[i] != GgufTokenKind::kUserDefined &&
          kinds_[i] != GgufTokenKind::kUnknown)
        continue;
      list.push_back(special(static_cast<int64_t>(i)));
      list.back()["special"] = kinds_[i] != GgufTokenKind::kUserDefined;
    }
    return list;
  }

  /// Returns templates with the special tokens before and after a text; `between` separates the texts of a pair.
  Json templates(int64_t first, int64_t last, const std::vector<int64_t>& between, int segment) const {
    Json tokens = Json::object();
    const auto put = [&](Json* list, int64_t number, int type) {
      if (number < 0) return;
      const std::string text = token(number);
      tokens[text] = {{"id", text}, {"ids", {number}}, {"tokens", {text}}};
      list->push_back({{"SpecialToken", {{"id", text}, {"type_id", type}}}});
    };
    const auto text = [](const char* which, int type) {
      return Json{{"Sequence", {{"id", which}, {"type_id", type}}}};
    };
    Json single = Json::array();
    put(&single, first, 0);
    single.push_back(text("A", 0));
    Json pair = single;
    put(&single, last, 0);
    for (const int64_t number : between) put(&pair, number, 0);
    pair.push_back(text("B", segment));
    put(&pair, last, segment);
    return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", tokens}};
  }

  /// Tokens without a mark continue a word; special tokens such as "[CLS]" stay unchanged.
  void read_word_pieces() {
    Json vocabulary = Json::object();
    for (size_t i = 0; i < tokens_.size(); ++i) {
      std::string& text = tokens_[i];
      const bool marked = text.compare(0, kMark.size(), kMark) == 0;
      const bool bracket = text.size() > 2 && text.front() == '[' && text.back() == ']';
      if (marked) {
        text.erase(0, kMark.size());
      } else if (kinds_[i] != GgufTokenKind::kControl && kinds_[i] != GgufTokenKind::kUnknown && !bracket) {
        text.insert(0, "##");
      }
      vocabulary[text] = i;
    }
    const int64_t unknown = id("unknown_token_id"), begin = begin_of_text(), end = separator();
    for (const int64_t number : {unknown, begin, end, id("padding_token_id"), id("mask_token_id")}) {
      if (number >= 0 && kinds_[static_cast<size_t>(number)] == GgufTokenKind::kNormal) {
        kinds_[static_cast<size_t>(number)] = GgufTokenKind::kControl;
      }
    }
    if (unknown < 0) problem("unknown_token_id", "is missing; it names the token of words that have no others");
    const bool lowercase = file_.flag(key("normalizer.lowercase"), true);
    files_.json = {{"model",
                    {{"type", "WordPiece"},
                     {"unk_token", token(unknown)},
                     {"continuing_subword_prefix", "##"},
                     {"max_input_chars_per_word", 100},
                     {"vocab", vocabulary}}},
                   {"normalizer",
                    {{"type", "BertNormalizer"},
                     {"clean_text", true},
                     {"handle_chinese_chars", true},
                     {"lowercase", lowercase},
                     {"strip_accents", file_.flag(key("normalizer.strip_accents"), lowercase)}}},
                   {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                   {"post_processor", templates(begin, end, {end}, 1)},
                   {"added_tokens", added()}};
  }

  int64_t begin_of_text() {
    const int64_t cls = id("cls_token_id");
    return cls >= 0 ? cls : id("bos_token_id");
  }

  void read_bpe() {
    const std::string pre = file_.text(key("pre"), "");
    const GgufSplits* kind = gguf_splits(pre);
    const Json& merges = value("merges");
    if (!merges.is_array()) problem("merges", "should be a list of merges");
    if (kind == nullptr) {
      unsupported("pre", fmt::format("{} is not supported; {} are; {}",
                                     pre.empty() ? "it is missing, and to guess how texts are cut"
                                                 : fmt::format("\"{}\"", printable(pre)),
                                     fmt::join(gguf_split_names(), ", "), kWithoutTokenizer));
      return;
    }
    Json steps = Json::array();
    for (const char* pattern : kind->patterns) {
      if (pattern == nullptr) break;
      steps.push_back(
          {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
    }
    steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}});
    const bool between = pre == "roberta-bpe" || pre == "jina-v1-en" || pre == "jina-v2-code";
    const bool begins = file_.flag(key("add_bos_token"), kind->begins || between);
    const bool ends = file_.flag(key("add_eos_token"), between);
    const int64_t first = begins ? begin_of_text() : -1, last = ends ? id("eos_token_id") : -1;
    const std::vector<int64_t> middle =
        between ? std::vector<int64_t>{last, last} : std::vector<int64_t>{last, begins ? first : -1};
    Json vocabulary = Json::object();
    for (size_t i = 0; i < tokens_.size(); ++i) vocabulary[tokens_[i]] = i;
    files_.json = {{"model",
                    {{"type", "BPE"},
                     {"vocab", vocabulary},
                     {"merges", merges},
                     {"unk_token", nullptr},
                     {"ignore_merges", kind->whole_words}}},
                   {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", steps}}},
                   {"post_processor", templates(first, last, middle, between ? 0 : 1)},
                   {"decoder", {{"type", "ByteLevel"}}},
                   {"added_tokens", added()}};
  }

  void read_sentence_pieces() {
    const std::vector<float> scores = this->scores();
    auto model = std::make_shared<SentencePieceModel>();
    model->type = SentencePieceModel::kBpe;
    model->add_dummy_prefix = file_.flag(key("add_space_prefix"), true);
    model->remove_extra_blanks = false;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      model->pieces.push_back({tokens_[i], scores[i], kinds_[i]});
      model->byte_fallback = model->byte_fallback || kinds_[i] == GgufTokenKind::kByte;
    }
    files_.pieces = SentencePieceFile{name(), "", "llama", {}, std::move(model)};
    // As in SentencePiece, and in transformers' "legacy" mode, a space begins every text and the text after a special
    // token.
    files_.config = {{"tokenizer_class", "LlamaTokenizer"},
                     {"legacy", true},
                     {"add_bos_token", file_.flag(key("add_bos_token"), true)},
                     {"add_eos_token", file_.flag(key("add_eos_token"), false)}};
  }

  void read_unigram() {
    const std::vector<float> scores = this->scores();
    Json vocabulary = Json::array();
    for (size_t i = 0; i < tokens_.size(); ++i) vocabulary.push_back({tokens_[i], scores[i]});
    const auto unknown = std::find(kinds_.begin(), kinds_.end(), GgufTokenKind::kUnknown);
    const int64_t named = id("unknown_token_id");
    const int64_t number = named >= 0 ? named : unknown - kinds_.begin();
    if (number >= static_cast<int64_t>(tokens_.size())) {
      problem("unknown_token_id", "is missing; it names the token of what has no others");
    }
    const Json mark = {{"type", "Metaspace"},
                       {"replacement", kMark},
                       {"prepend_scheme", file_.flag(key("add_space_prefix"), true) ? "always" : "never"}};
    Json before = Json::array();
    if (file_.flag(key("remove_extra_whitespaces"), true)) before.push_back({{"type", "WhitespaceSplit"}});
    before.push_back(mark);
    const bool begins = file_.flag(key("add_bos_token"), false), ends = file_.flag(key("add_eos_token"), true);
    const int64_t last = ends ? id("eos_token_id") : -1;
    files_.json = {{"model", {{"type", "Unigram"}, {"unk_id", number}, {"vocab", vocabulary}}},
                   {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", before}}},
                   {"post_processor", templates(begins ? begin_of_text() : -1, last, {last, begins ? last : -1}, 0)},
                   {"decoder", mark},
                   {"added_tokens", added()}};
    if (const std::string map = character_map(); !map.empty()) {
      files_.json["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", map}};
    }
  }

  /// SentencePiece's character map in base64.
  std::string character_map() {
    const Json& list = value("precompiled_charsmap");
    std::string out;
    if (!list.is_array()) return out;
    uint32_t held = 0, bits = 0;
    const auto put = [&](uint32_t six) {
      out += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[six & 63U];
    };
    for (const Json& byte : list) {
      if (!byte.is_number_integer()) {
        problem("precompiled_charsmap", "should be a list of bytes");
        return "";
      }
      bits = bits << 8 | (static_cast<uint32_t>(byte.get<int64_t>()) & 0xFFU);
      for (held += 8; held >= 6; held -= 6) put(bits >> (held - 6));
    }
    if (held != 0) put(bits << (6 - held));
    return out;
  }

  void name_specials() {
    Json names = Json::object();
    const auto put = [&](const char* which, int64_t number) {
      if (number >= 0) names[which] = token(number);
    };
    const int64_t end = separator();
    put("pad_token", id("padding_token_id"));
    put("mask_token", id("mask_token_id"));
    put("cls_token", begin_of_text());
    put("sep_token", end >= 0 && !files_.pieces ? end : id("eos_token_id"));
    put("unk_token", id("unknown_token_id"));
    if (files_.pieces) {
      files_.config["bos_token"] = token(id("bos_token_id"));
      files_.config["eos_token"] = token(id("eos_token_id"));
    }
    files_.special = names;
  }

  const GgufFile& file_;
  std::vector<std::string> tokens_;
  std::vector<GgufTokenKind> kinds_;
  TokenizerFiles files_;
};

}  // namespace

TokenizerFiles read_gguf_tokenizer(const GgufFile& file) { return TokenizerMaker(file).make(); }

}  // namespace bantam::convert
