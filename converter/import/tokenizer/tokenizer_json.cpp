// tokenizer.json: the format of Hugging Face's `tokenizers`.
#include <fmt/format.h>

#include "import/tokenizer/tokenizer.h"
#include "import/tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace {

constexpr int64_t kMaxId = int64_t{1} << 32;
constexpr uint64_t kNoLength = 1u << 30;

/// Reads the parts one by one; each problem names the part by its path in the file.
class Reader {
 public:
  Reader(const std::string& file, TokenizerSource& source, ProblemList& problems)
      : file_(file), source_(source), problems_(problems) {}

  void read(const Json& json) {
    read_model(part(json, "model"));
    read_normalizer(part(json, "normalizer"));
    read_pre_tokenizer(part(json, "pre_tokenizer"));
    read_added_tokens(part(json, "added_tokens"));
    read_post_processor(part(json, "post_processor"));
    read_truncation(part(json, "truncation"));
  }

 private:
  static const Json& part(const Json& json, const char* key) {
    static const Json kNull;
    if (!json.is_object()) return kNull;
    const auto found = json.find(key);
    return found == json.end() ? kNull : *found;
  }

  void problem(const std::string& field, const std::string& what) {
    problems_.push_back(fmt::format("{}: {}: {}", file_, field, what));
  }

  /// Well formed, but of a type that is not executed.
  void unsupported(const std::string& field, const std::string& type, const char* taken) {
    ++source_.unsupported;
    problem(field, fmt::format("\"{}\" is not supported; this version takes {}; {}", type, taken, kWithoutTokenizer));
  }

  bool flag(const Json& json, const char* key, bool otherwise, const std::string& where) {
    const Json& value = part(json, key);
    if (value.is_null()) return otherwise;
    if (value.is_boolean()) return value.get<bool>();
    problem(where + "." + key, "should be true or false");
    return otherwise;
  }

  std::string text(const Json& json, const char* key, const std::string& where) {
    const Json& value = part(json, key);
    if (value.is_string()) return value.get<std::string>();
    problem(where + "." + key, "should be a string");
    return {};
  }

  /// A whole number in [0, max]; -1 after a problem.
  int64_t number(const Json& value, int64_t max, const std::string& where) {
    if (value.is_number_integer() && value.get<int64_t>() >= 0 && value.get<int64_t>() <= max) {
      return value.get<int64_t>();
    }
    problem(where, fmt::format("should be a whole number from 0 to {}", max));
    return -1;
  }

  /// The "type" of a part; `otherwise` where old files leave it out.
  std::string type_of(const Json& json, const std::string& where, const std::string& otherwise = "") {
    if (!json.is_object()) {
      problem(where, "should be an object");
      return "?";
    }
    const Json& type = part(json, "type");
    if (type.is_string()) return type.get<std::string>();
    if (!otherwise.empty()) return otherwise;
    problem(where + ".type", "is missing");
    return "?";
  }

  /// A Sequence of one part is that part.
  const Json& unwrap(const Json& json, const char* list) {
    const Json& items = part(json, list);
    const Json& type = part(json, "type");
    return type == "Sequence" && items.is_array() && items.size() == 1 ? items[0] : json;
  }

  void read_model(const Json& model) {
    const std::string type = type_of(model, "model", "WordPiece");
    if (type == "?") return;
    if (type != "WordPiece") {
      unsupported("model.type", type, "WordPiece tokenizers");
      return;
    }
    source_.unknown = text(model, "unk_token", "model");
    source_.prefix = text(model, "continuing_subword_prefix", "model");
    const int64_t chars = number(part(model, "max_input_chars_per_word"), kMaxId, "model.max_input_chars_per_word");
    if (chars >= 0) source_.max_word_chars = static_cast<uint64_t>(chars);
    const Json& vocabulary = part(model, "vocab");
    if (!vocabulary.is_object()) {
      problem("model.vocab", "should be an object of tokens and their ids");
      return;
    }
    for (const auto& [token, id] : vocabulary.items()) {
      const int64_t value = number(id, kMaxId, fmt::format("model.vocab[{}]", Json(token).dump()));
      if (value < 0) return;  // one bad id is enough to name
      source_.vocabulary.emplace_back(token, value);
    }
  }

  void read_normalizer(const Json& json) {
    if (json.is_null()) return;
    const Json& normalizer = unwrap(json, "normalizers");
    const std::string type = type_of(normalizer, "normalizer");
    if (type == "?") return;
    if (type != "BertNormalizer") {
      unsupported("normalizer.type", type, "BertNormalizer or none");
      return;
    }
    source_.clean_text = flag(normalizer, "clean_text", true, "normalizer");
    source_.split_chinese = flag(normalizer, "handle_chinese_chars", true, "normalizer");
    source_.lowercase = flag(normalizer, "lowercase", true, "normalizer");
    source_.strip_accents = flag(normalizer, "strip_accents", source_.lowercase, "normalizer");
  }

  void read_pre_tokenizer(const Json& json) {
    const Json& pre_tokenizer = unwrap(json, "pretokenizers");
    const std::string type = json.is_null() ? "none" : type_of(pre_tokenizer, "pre_tokenizer");
    if (type == "?" || type == "BertPreTokenizer") return;
    unsupported("pre_tokenizer.type", type, "BertPreTokenizer");
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
      added.id = number(part(tokens[i], "id"), kMaxId, where + ".id");
      added.special = flag(tokens[i], "special", false, where);
      added.single_word = flag(tokens[i], "single_word", false, where);
      added.lstrip = flag(tokens[i], "lstrip", false, where);
      added.rstrip = flag(tokens[i], "rstrip", false, where);
      added.normalized = flag(tokens[i], "normalized", true, where);
      source_.added.push_back(added);
    }
  }

  void read_post_processor(const Json& json) {
    if (json.is_null()) return;
    const Json& processor = unwrap(json, "processors");
    const std::string type = type_of(processor, "post_processor");
    if (type == "?") return;
    if (type == "TemplateProcessing") {
      source_.single = read_template(processor, "single");
      source_.pair = read_template(processor, "pair");
    } else if (type == "BertProcessing") {
      const int32_t cls = read_bert_token(processor, "cls");
      const int32_t sep = read_bert_token(processor, "sep");
      using Piece = fb::TemplatePiece;
      source_.single = {Piece(cls, -1, 0), Piece(-1, 0, 0), Piece(sep, -1, 0)};
      source_.pair = {Piece(cls, -1, 0), Piece(-1, 0, 0), Piece(sep, -1, 0), Piece(-1, 1, 1), Piece(sep, -1, 1)};
    } else {
      unsupported("post_processor.type", type, "TemplateProcessing, BertProcessing or none");
    }
  }

  int32_t read_bert_token(const Json& processor, const char* key) {
    const Json& token = part(processor, key);
    const std::string where = fmt::format("post_processor.{}", key);
    if (!token.is_array() || token.size() != 2) {
      problem(where, "should be a token and its id");
      return 0;
    }
    return static_cast<int32_t>(number(token[1], INT32_MAX, where));
  }

  std::vector<fb::TemplatePiece> read_template(const Json& processor, const char* key) {
    std::vector<fb::TemplatePiece> pieces;
    const Json& list = part(processor, key);
    if (!list.is_array()) problem(fmt::format("post_processor.{}", key), "should be a list");
    for (size_t i = 0; list.is_array() && i < list.size(); ++i) {
      const std::string where = fmt::format("post_processor.{}[{}]", key, i);
      const Json& special = part(list[i], "SpecialToken");
      const Json& sequence = part(list[i], "Sequence");
      const Json& piece = special.is_object() ? special : sequence;
      if (!piece.is_object()) {
        problem(where, "should be a SpecialToken or a Sequence");
        continue;
      }
      const auto segment = static_cast<uint32_t>(number(part(piece, "type_id"), INT32_MAX, where + ".type_id"));
      const std::string id = text(piece, "id", where);
      if (special.is_object()) {
        const Json& ids = part(part(part(processor, "special_tokens"), id.c_str()), "ids");
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
    const Json& strategy = part(truncation, "strategy");
    if (strategy == "OnlyFirst") {
      source_.truncation = fb::Truncation::only_first;
    } else if (strategy == "OnlySecond") {
      source_.truncation = fb::Truncation::only_second;
    } else if (!strategy.is_null() && strategy != "LongestFirst") {
      problem("truncation.strategy", "should be LongestFirst, OnlyFirst or OnlySecond");
    }
    source_.truncate_left = part(truncation, "direction") == "Left";
    const Json& length = part(truncation, "max_length");
    if (length.is_number_unsigned() && length.get<uint64_t>() < kNoLength) {
      source_.max_length = length.get<uint32_t>();
    }
  }

  const std::string& file_;
  TokenizerSource& source_;
  ProblemList& problems_;
};

}  // namespace

void read_tokenizer_json(const Json& json, const std::string& file, TokenizerSource& source, ProblemList& problems) {
  source.file = file;
  Reader(file, source, problems).read(json);
}

}  // namespace bantam::convert
