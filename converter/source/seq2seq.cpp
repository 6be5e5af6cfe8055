#include "source/seq2seq.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "source/fields.h"

namespace bantam::convert {
namespace {

constexpr const char* kGru = "seq2seq-gru";
constexpr uint32_t kMostTargetTokens = 1U << 20;

/// Returns true for one code point of UTF-8, or one byte of invalid UTF-8.
bool is_character(const std::string& text) {
  const auto is_further = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  return !text.empty() && text.size() <= 4 && std::all_of(text.begin() + 1, text.end(), is_further);
}

/// Returns true for the name of a token that occurs in no text: "<unk>", "[PAD]".
bool is_named(const std::string& text) {
  return text.size() > 2 &&
         ((text.front() == '<' && text.back() == '>') || (text.front() == '[' && text.back() == ']'));
}

/// The vocabulary of one side, as listed in config.json.
class Words {
 public:
  Words(const Fields& fields, const char* key, const char* tokens_key) : fields_(fields), key_(key) {
    const Json& list = fields.raw(key);
    if (!list.is_array() || list.empty()) {
      fields.problem(ExitCode::kInvalid, key, "is not a list of texts of tokens");
      return;
    }
    bool characters = true;
    for (size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_string() || list[i].get_ref<const std::string&>().empty()) {
        fields.problem(ExitCode::kInvalid, key, fmt::format("number {} is not the text of a token", i));
        return;
      }
      const auto& text = list[i].get_ref<const std::string&>();
      const auto [before, fresh] = ids_.emplace(text, static_cast<int64_t>(i));
      if (!fresh) {
        fields.problem(ExitCode::kInvalid, key,
                       fmt::format("\"{}\" stands there twice, as number {} and {}", text, before->second, i));
        return;
      }
      characters = characters && (is_named(text) || is_character(text));
    }
    count_ = list.size();
    const std::string kind = fields.text(tokens_key, characters ? "characters" : "words");
    characters_ = kind == "characters";
    if (kind != "characters" && kind != "words") {
      fields.problem(ExitCode::kUnsupported, tokens_key,
                     fmt::format("\"{}\" is not supported; \"characters\" and \"words\" are", kind));
    }
    unknown_ = fields.text("unk_token", "<unk>");
    if (ids_.count(unknown_) == 0) {
      fields.problem(ExitCode::kInvalid, key,
                     fmt::format("has no \"{}\"; name the token for what is unknown by \"unk_token\"", unknown_));
    }
  }

  bool is_good() const { return count_ != 0; }
  size_t count() const { return count_; }
  bool of_characters() const { return characters_; }

  /// The id of the token that the setting `key` names, or of `otherwise` if it is absent; -1: none, or a problem.
  int64_t token(const char* key, const char* otherwise) const {
    if (fields_.stands(key) && !fields_.has(key)) return -1;
    const std::string text = fields_.text(key, otherwise);
    const auto found = ids_.find(text);
    if (found != ids_.end()) return found->second;
    if (fields_.has(key) || ids_.empty()) {
      fields_.problem(ExitCode::kInvalid, key, fmt::format("\"{}\" is not in {}", text, key_));
    }
    return -1;
  }

  /// The vocabulary as a tokenizer.json; `first` and `last` surround texts, unless they are -1.
  Json tokenizer(int64_t first, int64_t last, bool lowercase) const {
    Json vocabulary = Json::object(), special = Json::object(), single = Json::array(), pair;
    std::map<int64_t, std::string> texts;
    for (const auto& [text, id] : ids_) {
      vocabulary[text] = id;
      texts[id] = text;
    }
    const auto put = [&](int64_t id) {
      if (id < 0) return;
      single.push_back({{"SpecialToken", {{"id", texts[id]}, {"type_id", 0}}}});
      special[texts[id]] = {{"id", texts[id]}, {"ids", {id}}, {"tokens", {texts[id]}}};
    };
    put(first);
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
    put(last);
    pair = single;
    pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 0}}}});
    Json out;
    out["model"] = {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", unknown_}};
    if (characters_) {
      out["pre_tokenizer"] = {
          {"type", "Split"}, {"pattern", {{"Regex", "[\\s\\S]"}}}, {"behavior", "Isolated"}, {"invert", false}};
      out["decoder"] = {{"type", "Fuse"}};
    } else {
      out["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
      out["decoder"] = nullptr;
    }
    if (lowercase) out["normalizer"] = {{"type", "Lowercase"}};
    out["post_processor"] = {
        {"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special}};
    return out;
  }

 private:
  const Fields& fields_;
  const char* key_;
  std::map<std::string, int64_t> ids_;
  std::string unknown_;
  size_t count_ = 0;
  bool characters_ = false;
};

/// Adds a special token, which is not part of the text that contains it.
void hide(int64_t id, const Json& list, Json* tokenizer) {
  (*tokenizer)["added_tokens"].push_back(
      {{"id", id}, {"content", list.at(static_cast<size_t>(id))}, {"special", true}, {"normalized", false}});
}

/// Checks that vocabulary and table have the same number of rows, if both exist.
void check_rows(const Checkpoint& checkpoint, const Fields& fields, const char* key, size_t count, const char* module) {
  const std::string name = std::string(module) + ".embedding.weight";
  for (const auto& [stored, entry] : checkpoint.tensors()) {
    const bool is_it =
        stored.size() >= name.size() && stored.compare(stored.size() - name.size(), name.size(), name) == 0;
    if (!is_it || entry.stored->shape.empty() || entry.stored->shape[0] == count) continue;
    fields.problem(ExitCode::kInvalid, key,
                   fmt::format("has {} tokens, but tensor \"{}\" has {} rows; the two do not belong together", count,
                               stored, entry.stored->shape[0]));
  }
}

void settle(const Fields& fields, ModelSource* source) {
  const Json& before = fields.whole();
  Json& config = source->config;
  config["model_type"] = "seq2seq";
  if (before.at("model_type") == kGru) config["cell_type"] = "gru";
  if (fields.has("max_length")) {
    const uint32_t most = fields.count("max_length", kMostTargetTokens);
    config["max_new_tokens"] = most;
    config.erase("max_length");  // in transformers' encoder-decoders it includes the start token
    if (!fields.has("max_target_length")) config["max_target_length"] = most + 1;
  }
  const bool lists = fields.has("source_vocab") || fields.has("target_vocab");
  if (!lists) return;
  for (const char* key : {"source_vocab", "target_vocab"}) {
    if (!fields.has(key)) fields.problem(ExitCode::kInvalid, key, "is missing, though the other vocabulary is there");
  }
  fields.raise();
  const Words from(fields, "source_vocab", "source_tokens"), to(fields, "target_vocab", "target_tokens");
  if (!from.is_good() || !to.is_good()) return;
  check_rows(*source->checkpoint, fields, "source_vocab", from.count(), "encoder");
  check_rows(*source->checkpoint, fields, "target_vocab", to.count(), "decoder");
  const int64_t first = from.token("source_bos", ""), last = from.token("source_eos", "</s>"),
                start = to.token("decoder_start", "<s>"), end = to.token("decoder_eos", "</s>");
  if (start < 0) fields.problem(ExitCode::kInvalid, "decoder_start", "names no token that texts begin with");
  if (end < 0) fields.problem(ExitCode::kInvalid, "decoder_eos", "names no token that texts end with");
  fields.raise();
  config["source_vocab_size"] = from.count();
  config["target_vocab_size"] = to.count();
  config["decoder_start_token_id"] = static_cast<uint64_t>(start);
  config["eos_token_id"] = static_cast<uint64_t>(end);
  TokenizerFiles& files = source->tokenizer;
  files = TokenizerFiles();
  files.source_json = from.tokenizer(first, last, fields.flag("lowercase", false));
  files.source_json_name = "config.json: source_vocab";
  files.json = to.tokenizer(-1, end, false);
  files.json_name = "config.json: target_vocab";
  files.json["added_tokens"] = Json::array();
  const int64_t padding = to.token("pad_token", "<pad>");
  for (const int64_t id : std::set<int64_t>{start, end, padding}) {
    if (id >= 0) hide(id, fields.raw("target_vocab"), &files.json);
  }
}

}  // namespace

bool is_seq2seq(const Json& config) {
  const auto type = config.find("model_type");
  return type != config.end() && (*type == "seq2seq" || *type == kGru);
}

void settle_seq2seq(ModelSource* source) {
  const Json before = source->config;
  Problems problems;
  settle(Fields(before, "config.json", problems), source);
  problems.raise();
}

}  // namespace bantam::convert
