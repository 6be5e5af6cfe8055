// Reads tokenizer.json, the format of Hugging Face's `tokenizers`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tokenizer/split_pattern.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace {

constexpr int64_t kMaxId = int64_t{1} << 32;
constexpr uint64_t kNoLength = 1u << 30;
constexpr size_t kMaxParts = 64;  // in a Sequence
constexpr size_t kMaxAffix = 16;

/// Reads the parts in order; each problem names the part by its path in the file.
class Reader {
 public:
  Reader(const std::string& file, TokenizerSource& source, ProblemList& problems)
      : file_(file), source_(source), problems_(problems) {}

  void read(const Json& json, const std::string& tokenizer_class, const Json& config) {
    Json normalizer = member(json, "normalizer"), splitter = member(json, "pre_tokenizer");
    Json processor = member(json, "post_processor");
    follow_class(tokenizer_class, config, normalizer, splitter, processor, source_);
    read_model(member(json, "model"));
    is_bert_ = source_.is_wordpiece() && is_only(normalizer, "normalizers", "BertNormalizer", true) &&
               is_only(splitter, "pretokenizers", "BertPreTokenizer", false);
    read_normalizer(normalizer);
    read_added_tokens(member(json, "added_tokens"));
    read_pre_tokenizer(splitter);
    read_post_processor(processor);
    read_truncation(member(json, "truncation"));
    if (json.contains("decoder")) read_decoder(member(json, "decoder"), source_);
  }

 private:
  void problem(const std::string& field, const std::string& what) {
    problems_.push_back(fmt::format("{}: {}: {}", file_, field, what));
  }

  /// Reports valid content of an unsupported type.
  void unsupported(const std::string& field, const std::string& type, const char* taken) {
    ++source_.unsupported;
    problem(field, fmt::format("\"{}\" is not supported; this version takes {}; {}", type, taken, kWithoutTokenizer));
  }

  bool flag(const Json& json, const char* key, bool otherwise, const std::string& where) {
    const Json& value = member(json, key);
    if (value.is_null()) return otherwise;
    if (value.is_boolean()) return value.get<bool>();
    problem(where + "." + key, "should be true or false");
    return otherwise;
  }

  std::string text(const Json& json, const char* key, const std::string& where) {
    const Json& value = member(json, key);
    if (value.is_string()) return value.get<std::string>();
    problem(where + "." + key, "should be a string");
    return {};
  }

  /// Returns an integer in [0, max]; -1 after a problem.
  int64_t number(const Json& value, int64_t max, const std::string& where) {
    if (value.is_number_integer() && value.get<int64_t>() >= 0 && value.get<int64_t>() <= max) {
      return value.get<int64_t>();
    }
    problem(where, fmt::format("should be a whole number from 0 to {}", max));
    return -1;
  }

  /// The "type" of a part; `otherwise` if it is missing, as in old files.
  std::string type_of(const Json& json, const std::string& where, const std::string& otherwise = "") {
    if (!json.is_object()) {
      problem(where, "should be an object");
      return "?";
    }
    const Json& type = member(json, "type");
    if (type.is_string()) return type.get<std::string>();
    if (!otherwise.empty()) return otherwise;
    problem(where + ".type", "is missing");
    return "?";
  }

  /// The parts of a Sequence, including nested sequences; any other object is its own only part. Empty for null.
  std::vector<const Json*> parts(const Json& json, const char* list, const std::string& where) {
    std::vector<const Json*> found;
    std::vector<const Json*> open = {&json};
    while (!open.empty()) {
      const Json& next = *open.back();
      open.pop_back();
      const Json& items = member(next, list);
      if (member(next, "type") == "Sequence" && items.is_array()) {
        for (size_t i = items.size(); i-- > 0;) open.push_back(&items[i]);
      } else if (!next.is_null()) {
        found.push_back(&next);
      }
    }
    if (found.size() > kMaxParts) problem(where, fmt::format("has more than {} parts", kMaxParts));
    return found;
  }

  /// Returns true if the step is of this type alone, or if it is missing and `may_lack` is set.
  bool is_only(const Json& json, const char* list, const char* type, bool may_lack) {
    const std::vector<const Json*> found = parts(json, list, list);
    return found.empty() ? may_lack : found.size() == 1 && member(*found[0], "type") == type;
  }

  void read_model(const Json& model) {
    const std::string type = type_of(model, "model", model_type(model));
    if (type == "?") return;
    if (type == "WordPiece") {
      source_.unknown = text(model, "unk_token", "model");
      source_.model.continuing_prefix = text(model, "continuing_subword_prefix", "model");
      const int64_t chars = number(member(model, "max_input_chars_per_word"), kMaxId, "model.max_input_chars_per_word");
      if (chars >= 0) source_.max_word_chars = static_cast<uint64_t>(chars);
    } else if (type == "BPE") {
      read_bpe(model);
    } else if (type == "WordLevel") {
      source_.unknown = text(model, "unk_token", "model");
      source_.model.kind = fb::TokenModelKind::bpe;
      source_.model.traits = text::kWordLevel;
    } else if (type == "Unigram") {
      read_unigram(model);
      return;
    } else {
      unsupported("model.type", type, "WordPiece, BPE, Unigram and WordLevel");
      return;
    }
    read_vocabulary_object(member(model, "vocab"), "model.vocab", source_, problems_);
  }

  /// The type of a model that does not state it, as in old files.
  static std::string model_type(const Json& model) {
    if (member(model, "merges").is_array()) return "BPE";
    return member(model, "vocab").is_array() ? "Unigram" : "WordPiece";
  }

  void read_unigram(const Json& model) {
    source_.model.kind = fb::TokenModelKind::unigram;
    source_.unknown.clear();
    source_.byte_fallback = flag(model, "byte_fallback", false, "model");
    const Json& vocabulary = member(model, "vocab");
    if (!vocabulary.is_array() || vocabulary.empty()) {
      problem("model.vocab", "should be a list of tokens and their scores");
      return;
    }
    for (size_t i = 0; i < vocabulary.size(); ++i) {
      const Json& entry = vocabulary[i];
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
        problem(fmt::format("model.vocab[{}]", i), "should be a token and its score");
        return;
      }
      source_.vocabulary.emplace_back(entry[0].get<std::string>(), static_cast<int64_t>(i));
      source_.scores.push_back(entry[1].get<double>());
    }
    const Json& unknown = member(model, "unk_id");
    const auto most = static_cast<int64_t>(vocabulary.size()) - 1;
    const int64_t id = number(unknown, most, "model.unk_id");
    if (id >= 0) source_.unknown = source_.vocabulary[static_cast<size_t>(id)].first;
  }

  /// Reads the suffix or prefix of tokens at certain positions in words: null, or two or more characters, so that no
  /// single character is one.
  void read_affix(const Json& model, const char* key, uint32_t trait, std::string& affix) {
    const Json& value = member(model, key);
    if (value.is_null() || (value.is_string() && value.get<std::string>().empty())) return;
    if (!value.is_string() || value.get<std::string>().size() < 2 || value.get<std::string>().size() > kMaxAffix ||
        !is_ascii(value.get<std::string>())) {
      unsupported(std::string("model.") + key, value.dump(-1, ' ', true, Json::error_handler_t::replace),
                  "null or 2 to 16 characters of ASCII");
      return;
    }
    affix = value.get<std::string>();
    source_.model.traits |= trait;
  }

  static bool is_ascii(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
  }

  void read_bpe(const Json& model) {
    source_.model.kind = fb::TokenModelKind::bpe;
    source_.model.whole_words = flag(model, "ignore_merges", false, "model");
    source_.unknown = member(model, "unk_token").is_null() ? "" : text(model, "unk_token", "model");
    read_affix(model, "continuing_subword_prefix", text::kBeginMarks, source_.inner_prefix);
    read_affix(model, "end_of_word_suffix", text::kEndMarks, source_.end_suffix);
    const Json& dropout = member(model, "dropout");
    if (!dropout.is_null() && dropout != 0.0) unsupported("model.dropout", dropout.dump(), "null");
    source_.byte_fallback = flag(model, "byte_fallback", false, "model");
    source_.fuse_unknown = flag(model, "fuse_unk", false, "model");
    if (source_.model.traits != 0) {
      if (source_.model.whole_words) unsupported("model.ignore_merges", "true", "false with a prefix or suffix");
      if (source_.byte_fallback) unsupported("model.byte_fallback", "true", "false with a prefix or suffix");
    }
    const Json& merges = member(model, "merges");
    if (!merges.is_array()) problem("model.merges", "should be a list of merges");
    for (size_t i = 0; merges.is_array() && i < merges.size(); ++i) {
      const Json& merge = merges[i];
      std::pair<std::string, std::string> two;
      if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        two = {merge[0].get<std::string>(), merge[1].get<std::string>()};
      } else if (const std::string line = merge.is_string() ? merge.get<std::string>() : ""; !line.empty()) {
        const size_t blank = line.find(' ');
        if (blank != std::string::npos) two = {line.substr(0, blank), line.substr(blank + 1)};
      }
      if (two.first.empty() || two.second.empty() || (merge.is_string() && two.second.find(' ') != std::string::npos)) {
        problem(fmt::format("model.merges[{}]", i), "should be two tokens with a blank between them, or a list of two");
        return;
      }
      source_.merges.push_back(std::move(two));
    }
  }

  void read_normalizer(const Json& json) {
    const std::vector<const Json*> found = parts(json, "normalizers", "normalizer");
    if (found.empty()) return;
    std::vector<std::string> types;
    types.reserve(found.size());
    for (const Json* step : found) types.push_back(type_of(*step, "normalizer"));
    if (std::find(types.begin(), types.end(), "?") != types.end()) return;
    if (!is_bert_) {
      read_normalizers(found, source_, problems_);
      return;
    }
    const Json& normalizer = *found[0];
    source_.bert.clean_text = flag(normalizer, "clean_text", true, "normalizer");
    source_.bert.split_chinese = flag(normalizer, "handle_chinese_chars", true, "normalizer");
    source_.bert.lowercase = flag(normalizer, "lowercase", true, "normalizer");
    source_.bert.strip_accents = flag(normalizer, "strip_accents", source_.bert.lowercase, "normalizer");
  }

  void read_pre_tokenizer(const Json& json) {
    const std::vector<const Json*> found = parts(json, "pretokenizers", "pre_tokenizer");
    std::vector<std::string> types;
    types.reserve(found.size());
    for (const Json* step : found) types.push_back(type_of(*step, "pre_tokenizer"));
    if (std::find(types.begin(), types.end(), "?") != types.end()) return;
    const std::string all = types.empty() ? "none" : fmt::format("{}", fmt::join(types, ", "));
    if (is_bert_) return;
    if (all.find("Metaspace") != std::string::npos) {
      if (source_.is_wordpiece()) return unsupported("pre_tokenizer.type", all, "Metaspace with BPE and Unigram");
      if (source_.is_bpe()) set_code_points();
      if (source_.is_word_level() || !source_.end_suffix.empty() || !source_.inner_prefix.empty()) {
        unsupported("pre_tokenizer.type", all, "Metaspace with BPE without affixes, and with Unigram");
      }
      read_metaspace(found, all);
      return;
    }
    // After a normalizer that replaces all spaces by marks, a split at spaces has no effect.
    const bool at_blanks = all == "Split" && member(member(*found[0], "pattern"), "String") == " ";
    const bool plain = !source_.is_wordpiece() && source_.end_suffix.empty() && source_.inner_prefix.empty() &&
                       !source_.is_word_level();
    if ((found.empty() || at_blanks) && plain && take_marking()) {
      if (source_.is_bpe()) set_code_points();
      source_.splitter.kind = fb::SplitterKind::metaspace;
      source_.splitter.whole = true;
      return;
    }
    if (source_.is_unigram()) return unsupported("pre_tokenizer.type", all, "Metaspace last with Unigram");
    bool bytes = false;
    read_splitters(found, source_, problems_, &bytes);
    if (!bytes && source_.is_bpe()) set_code_points();
    if (bytes && source_.is_wordpiece()) unsupported("pre_tokenizer.type", all, "ByteLevel with BPE and WordLevel");
    if (bytes && source_.byte_fallback) unsupported("model.byte_fallback", "true", "false with ByteLevel");
  }

  /// BPE that is not byte-level: SentencePiece's with marks for spaces, or words by a pattern.
  void set_code_points() {
    source_.model.traits |= text::kCodePoints | (source_.fuse_unknown ? text::kFuseUnknown : 0);
  }

  /// Returns true if the last normalizer replaces spaces by marks. The splitter then does that instead, unless added
  /// tokens are searched for in text with marks.
  bool take_marking() {
    if (source_.stages.empty()) return false;
    const fb::NormalizerT& last = source_.stages.back().rule;
    const bool marks = last.kind == fb::NormalizerKind::replace && last.text == " " && last.least == 0;
    if (!marks || last.content != "\u2581") return false;
    const auto is_normalized = [](const AddedSource& added) { return added.normalized; };
    if (std::none_of(source_.added.begin(), source_.added.end(), is_normalized)) source_.stages.pop_back();
    return true;
  }

  void read_metaspace(const std::vector<const Json*>& found, const std::string& all) {
    const Json& mark = *found.back();
    const bool at_white = all == "WhitespaceSplit, Metaspace";
    bool bytes = false;
    if (found.size() > 1 && !at_white) read_splitters({found.begin(), found.end() - 1}, source_, problems_, &bytes);
    source_.splitter.kind = fb::SplitterKind::metaspace;
    if (bytes || member(mark, "type") != "Metaspace") {
      unsupported("pre_tokenizer.type", all, "Metaspace behind all others but ByteLevel");
      return;
    }
    if (member(mark, "replacement") != "\u2581") {
      unsupported("pre_tokenizer.replacement", member(mark, "replacement").dump(), "U+2581");
    }
    const Json& scheme = member(mark, "prepend_scheme");
    const bool old = scheme.is_null();
    if (!old && scheme != "always" && scheme != "first" && scheme != "never") {
      problem("pre_tokenizer.prepend_scheme", "should be always, first or never");
    }
    source_.splitter.prefix_blank = old ? flag(mark, "add_prefix_space", true, "pre_tokenizer") : scheme != "never";
    source_.splitter.first_only = scheme == "first";
    source_.splitter.white_words = at_white;
    source_.splitter.whole = !flag(mark, "split", true, "pre_tokenizer");
  }

  void read_added_tokens(const Json& tokens) {
    if (tokens.is_null()) return;
    if (!tokens.is_array()) {
      problem("added_tokens", "should be a list");
      return;
    }
    for (size_t i = 0; i < tokens.size(); ++i) {
      const std::string where = fmt::format("added_tokens[{}]", i);
      if (!tokens[i].is_object()) {
        problem(where, "should be an object");
        continue;
      }
      AddedSource added;
      added.text = text(tokens[i], "content", where);
      added.id = number(member(tokens[i], "id"), kMaxId, where + ".id");
      added.special = flag(tokens[i], "special", false, where);
      added.single_word = flag(tokens[i], "single_word", false, where);
      added.lstrip = flag(tokens[i], "lstrip", false, where);
      added.rstrip = flag(tokens[i], "rstrip", false, where);
      added.normalized = flag(tokens[i], "normalized", true, where);
      source_.added.push_back(added);
    }
  }

  void read_post_processor(const Json& json) {
    bool has_template = false;
    for (const Json* step : parts(json, "processors", "post_processor")) {
      const std::string type = type_of(*step, "post_processor");
      if (type == "?") return;
      const bool is_template = type != "ByteLevel";
      if (is_template && has_template) unsupported("post_processor.type", "Sequence of several templates", "one");
      has_template = has_template || is_template;
      read_processor(*step, type);
    }
  }

  void read_processor(const Json& processor, const std::string& type) {
    using Piece = fb::TemplatePiece;
    if (type == "TemplateProcessing") {
      source_.single = read_template(processor, "single");
      source_.pair = read_template(processor, "pair");
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      const int32_t cls = read_bert_token(processor, "cls", source_.cls);
      const int32_t sep = read_bert_token(processor, "sep", source_.sep);
      source_.single = {Piece(cls, -1, 0), Piece(-1, 0, 0), Piece(sep, -1, 0)};
      if (type == "RobertaProcessing") {
        source_.pair = {Piece(cls, -1, 0), Piece(-1, 0, 0), Piece(sep, -1, 0),
                        Piece(sep, -1, 0), Piece(-1, 1, 0), Piece(sep, -1, 0)};
        read_trimming(processor);
      } else {
        source_.pair = {Piece(cls, -1, 0), Piece(-1, 0, 0), Piece(sep, -1, 0), Piece(-1, 1, 1), Piece(sep, -1, 1)};
      }
    } else if (type == "ByteLevel") {
      read_trimming(processor);
    } else {
      unsupported("post_processor.type", type,
                  "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or none");
    }
  }

  void read_trimming(const Json& processor) {
    if (!flag(processor, "trim_offsets", true, "post_processor")) return;
    if (source_.trim_blanks) unsupported("post_processor.trim_offsets", "true twice", "one step that trims");
    source_.trim_blanks = true;
    source_.trim_prefix = flag(processor, "add_prefix_space", true, "post_processor");
  }

  int32_t read_bert_token(const Json& processor, const char* key, std::string& name) {
    const Json& token = member(processor, key);
    const std::string where = fmt::format("post_processor.{}", key);
    if (!token.is_array() || token.size() != 2) {
      problem(where, "should be a token and its id");
      return 0;
    }
    if (token[0].is_string()) name = token[0].get<std::string>();
    return static_cast<int32_t>(number(token[1], INT32_MAX, where));
  }

  std::vector<fb::TemplatePiece> read_template(const Json& processor, const char* key) {
    std::vector<fb::TemplatePiece> pieces;
    const Json& list = member(processor, key);
    if (!list.is_array()) problem(fmt::format("post_processor.{}", key), "should be a list");
    for (size_t i = 0; list.is_array() && i < list.size(); ++i) {
      const std::string where = fmt::format("post_processor.{}[{}]", key, i);
      const Json& special = member(list[i], "SpecialToken");
      const Json& sequence = member(list[i], "Sequence");
      const Json& piece = special.is_object() ? special : sequence;
      if (!piece.is_object()) {
        problem(where, "should be a SpecialToken or a Sequence");
        continue;
      }
      const auto segment = static_cast<uint32_t>(number(member(piece, "type_id"), INT32_MAX, where + ".type_id"));
      const std::string id = text(piece, "id", where);
      if (special.is_object()) {
        const Json& ids = member(member(member(processor, "special_tokens"), id.c_str()), "ids");
        if (!ids.is_array() || ids.empty()) problem(where + ".id", fmt::format("\"{}\" is not in special_tokens", id));
        for (size_t k = 0; ids.is_array() && k < ids.size(); ++k) {
          const int64_t token = number(ids[k], INT32_MAX, fmt::format("post_processor.special_tokens[{}].ids", id));
          pieces.emplace_back(static_cast<int32_t>(token), -1, segment);
        }
      } else if (id == "A" || id == "B") {
        pieces.emplace_back(-1, id == "B" ? 1 : 0, segment);
      } else {
        problem(where + ".id", "should be A or B");
      }
    }
    return pieces;
  }

  void read_truncation(const Json& truncation) {
    if (!truncation.is_object()) return;
    const Json& strategy = member(truncation, "strategy");
    if (strategy == "OnlyFirst") {
      source_.truncation = fb::Truncation::only_first;
    } else if (strategy == "OnlySecond") {
      source_.truncation = fb::Truncation::only_second;
    } else if (!strategy.is_null() && strategy != "LongestFirst") {
      problem("truncation.strategy", "should be LongestFirst, OnlyFirst or OnlySecond");
    }
    source_.truncate_left = member(truncation, "direction") == "Left";
    const Json& length = member(truncation, "max_length");
    if (length.is_number_unsigned() && length.get<uint64_t>() < kNoLength) {
      source_.max_length = length.get<uint32_t>();
    }
  }

  const std::string& file_;
  TokenizerSource& source_;
  ProblemList& problems_;
  bool is_bert_ = false;  // WordPiece after BERT's splitter, and BERT's normalizer or none
};

}  // namespace

void read_vocabulary_object(const Json& vocabulary, const std::string& where, TokenizerSource& source,
                            ProblemList& problems) {
  if (!vocabulary.is_object()) {
    problems.push_back(fmt::format("{}: {}: should be an object of tokens and their ids", source.file, where));
    return;
  }
  for (const auto& [token, id] : vocabulary.items()) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() > kMaxId) {
      problems.push_back(fmt::format("{}: {}[{}]: should be a whole number from 0 to {}", source.file, where,
                                     Json(token).dump(), kMaxId));
      return;  // one bad id is enough to report
    }
    source.vocabulary.emplace_back(token, id.get<int64_t>());
  }
}

void read_tokenizer_json(const Json& json, const std::string& file, const std::string& tokenizer_class,
                         const Json& config, TokenizerSource& source, ProblemList& problems) {
  source.file = file;
  Reader(file, source, problems).read(json, tokenizer_class, config);
}

}  // namespace bantam::convert
