#include "import/tokenizer/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <system_error>

#include "base/error.h"
#include "base/is_there.h"
#include "base/text_encoding.h"
#include "import/tokenizer/tokenizer_source.h"
#include "import/tokenizer/tokenizer_tables.h"
#include "text/normalizer.h"
#include "text/tables.h"
#include "text/utf8.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxTokenBytes = 4096;
constexpr size_t kShownProblems = 8;  // of one kind

/// A token as problems show it: quoted, escaped, not too long.
std::string shown(const std::string& token) {
  std::string text = Json(token.substr(0, 40)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return token.size() > 40 ? text + "..." : text;
}

/// Makes a fb::TokenizerT of a source.
class Assembler {
 public:
  Assembler(TokenizerSource& source, ProblemList& problems) : source_(source), problems_(problems) {}

  std::unique_ptr<fb::TokenizerT> assemble(std::vector<RawBlob>& blobs) {
    collect_vocabulary();
    if (!problems_.empty()) return nullptr;
    collect_added();
    find_specials();
    if (source_.max_word_chars > text::kMaxWordChars) {
      ++source_.unsupported;
      problem("model.max_input_chars_per_word",
              fmt::format("{} is more than the {} that this version takes; set it lower if no word is so long",
                          source_.max_word_chars, text::kMaxWordChars));
    }
    if (source_.prefix.size() > 64 || source_.prefix.find('\0') != std::string::npos) {
      problem("model.continuing_subword_prefix", "is longer than 64 bytes or holds U+0000");
    }
    if (!problems_.empty()) return nullptr;
    fill_settings();
    fill_templates();
    fill_tables(blobs);
    return problems_.empty() ? std::move(out_) : nullptr;
  }

 private:
  void problem(const std::string& field, const std::string& what) {
    problems_.push_back(fmt::format("{}: {}: {}", source_.file, field, what));
  }

  /// texts_[id] for the model's own vocabulary; every rule broken is shown a few times.
  void collect_vocabulary() {
    if (source_.vocabulary.empty()) problem("model.vocab", "holds no tokens");
    size_t count = 0;
    const auto complain = [&](const std::string& token, const std::string& what) {
      if (++count <= kShownProblems) problem("model.vocab", fmt::format("token {} {}", shown(token), what));
    };
    for (const auto& [token, id] : source_.vocabulary) {
      if (id < 0 || id >= int64_t{text::kMaxVocabulary}) {
        complain(token, fmt::format("has id {}, more than the {} that this version takes; renumber the tokens", id,
                                    text::kMaxVocabulary - 1));
        continue;
      }
      if (token.size() > kMaxTokenBytes) {
        complain(token, fmt::format("has {} bytes, more than {}; leave it out", token.size(), kMaxTokenBytes));
      }
      if (!is_utf8(token)) complain(token, "is not valid UTF-8; correct the file's encoding");
      if (!source_.clean_text && token.find('\0') != std::string::npos) {
        complain(token, "holds U+0000, which is only supported with clean_text; leave it out");
      }
      const auto place = static_cast<size_t>(id);
      if (place >= texts_.size()) texts_.resize(place + 1);
      if (place >= known_.size()) known_.resize(place + 1, false);
      if (known_[place]) {
        complain(token, fmt::format("has the id {} of another token; give each its own", id));
        continue;
      }
      known_[place] = true;
      if (!ids_.emplace(token, static_cast<uint32_t>(id)).second && !token.empty()) {
        complain(token, fmt::format("stands there twice, the second time as {}; remove one", id));
      }
      texts_[place] = token;
    }
    if (count > kShownProblems) problem("model.vocab", fmt::format("{} more such tokens", count - kShownProblems));
  }

  /// Numbers added tokens as Hugging Face does: those of the vocabulary keep their id, others follow it in
  /// order, whatever the file says.
  void collect_added() {
    const size_t vocabulary = ids_.size();
    uint32_t next = static_cast<uint32_t>(vocabulary);
    std::map<std::string, AddedSource> latest;
    std::vector<std::string> order;
    for (const AddedSource& added : source_.added) {
      const std::string where = fmt::format("added token {}", shown(added.text));
      if (added.text.empty()) continue;  // as Hugging Face
      if (added.text.size() > kMaxTokenBytes || added.text.find('\0') != std::string::npos || !is_utf8(added.text)) {
        problem(where, fmt::format("has more than {} bytes, holds U+0000 or is not valid UTF-8; leave it out",
                                   kMaxTokenBytes));
        continue;
      }
      if (latest.find(added.text) == latest.end()) order.push_back(added.text);
      latest[added.text] = added;
    }
    for (const std::string& text : order) {
      auto token = std::make_unique<fb::AddedTokenT>();
      const AddedSource& added = latest[text];
      const auto found = ids_.find(text);
      token->id = found != ids_.end() ? found->second : next++;
      if (found == ids_.end()) {
        if (token->id >= text::kMaxVocabulary) {
          problem(fmt::format("added token {}", shown(text)), "makes the vocabulary too large; leave it out");
          return;
        }
        if (token->id < known_.size() && known_[token->id]) {
          problem(fmt::format("added token {}", shown(text)),
                  fmt::format("would get id {}, which another token has, because ids are missing; renumber the tokens",
                              token->id));
          continue;
        }
        if (token->id >= texts_.size()) {
          texts_.resize(token->id + 1);
          known_.resize(token->id + 1, false);
        }
        texts_[token->id] = text;
        known_[token->id] = true;
        ids_.emplace(text, token->id);
        purely_added_.push_back(token->id);
      }
      if (added.id >= 0 && added.id != int64_t{token->id}) {
        source_.notes.push_back(fmt::format("{}: added token {} has id {} there; as Hugging Face does, it is given {}",
                                            source_.file, shown(text), added.id, token->id));
      }
      token->text = text;
      token->special = added.special;
      token->single_word = added.single_word;
      token->lstrip = added.lstrip;
      token->rstrip = added.rstrip;
      token->normalized = added.normalized;
      out_->added_tokens.push_back(std::move(token));
    }
    std::sort(out_->added_tokens.begin(), out_->added_tokens.end(),
              [](const auto& a, const auto& b) { return a->id < b->id; });
    const auto holes = std::count(known_.begin(), known_.end(), false);
    if (holes > 0) {
      source_.notes.push_back(fmt::format("{}: {} ids between 0 and {} have no token; they are never produced",
                                          source_.file, holes, known_.size() - 1));
    }
  }

  int32_t id_of(const std::string& token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() || token.empty() ? -1 : static_cast<int32_t>(found->second);
  }

  void find_specials() {
    out_->model = std::make_unique<fb::TokenModelT>();
    out_->model->unknown_id = id_of(source_.unknown);
    if (out_->model->unknown_id < 0) {
      problem("unk_token",
              fmt::format("{} is not in the vocabulary; name the token for unknown words", shown(source_.unknown)));
    }
    out_->pad_id = id_of(source_.pad);
    out_->cls_id = id_of(source_.cls);
    out_->sep_id = id_of(source_.sep);
    out_->mask_id = id_of(source_.mask);
  }

  void fill_settings() {
    if (source_.clean_text || source_.split_chinese || source_.lowercase || source_.strip_accents) {
      auto rules = std::make_unique<fb::NormalizerT>();
      rules->clean_text = source_.clean_text;
      rules->split_chinese = source_.split_chinese;
      rules->lowercase = source_.lowercase;
      rules->strip_accents = source_.strip_accents;
      out_->normalizers.push_back(std::move(rules));
    }
    out_->splitters.push_back(std::make_unique<fb::SplitterT>());
    out_->model->kind = fb::TokenModelKind::wordpiece;
    out_->model->max_word_chars = static_cast<uint32_t>(source_.max_word_chars);
    out_->model->continuing_prefix = source_.prefix;
    out_->vocab_size = static_cast<uint32_t>(texts_.size());
    out_->truncation = source_.truncation;
    out_->truncate_left = source_.truncate_left;
    out_->max_length = source_.max_length;
  }

  void fill_templates() {
    out_->single = resolve(source_.single, "single", false);
    out_->pair = resolve(source_.pair, "pair", true);
  }

  std::vector<fb::TemplatePiece> resolve(const std::vector<fb::TemplatePiece>& pieces, const char* name, bool pair) {
    std::vector<fb::TemplatePiece> resolved;
    std::array<int, 2> texts = {0, 0};
    for (const fb::TemplatePiece& piece : pieces) {
      int32_t token = piece.token();
      if (token == kTemplateCls) token = out_->cls_id;
      if (token == kTemplateSep) token = out_->sep_id;
      if (token == -1 && piece.token() != -1) {
        problem(piece.token() == kTemplateCls ? "cls_token" : "sep_token",
                "is not in the vocabulary; name it in tokenizer_config.json");
      } else if (token == -1) {
        ++texts.at(piece.sequence() == 1 ? 1 : 0);
      } else if (static_cast<size_t>(token) >= texts_.size()) {
        problem(fmt::format("post_processor.{}", name), fmt::format("token id {} is not in the vocabulary", token));
      }
      resolved.emplace_back(token, piece.sequence(), piece.segment());
    }
    if (texts[0] != 1 || texts[1] != (pair ? 1 : 0) || pieces.size() > 64) {
      problem(fmt::format("post_processor.{}", name), "should hold each text once, and at most 64 pieces");
    }
    return resolved;
  }

  text::Normalization rules() const {
    return {source_.clean_text, source_.split_chinese, source_.lowercase, source_.strip_accents};
  }

  /// What the runtime's own normaliser makes of an added token's text.
  std::string normalize(const std::string& text) const {
    text::NormalStream stream(rules(), reinterpret_cast<const uint8_t*>(text.data()), 0,
                              static_cast<uint32_t>(text.size()));
    std::string result;
    for (text::NormalChar c{}; stream.next(&c);) {
      std::array<uint8_t, 4> bytes{};
      const uint32_t size = text::encode_utf8(c.code, bytes.data());
      result.append(reinterpret_cast<const char*>(bytes.data()), size);
    }
    return result;
  }

  void fill_tables(std::vector<RawBlob>& blobs) {
    std::vector<bool> in_model(texts_.size(), true);
    for (const uint32_t id : purely_added_) in_model[id] = false;
    TrieKeys vocabulary;
    for (uint32_t id = 0; id < texts_.size(); ++id) {
      const std::string& text = texts_[id];
      if (in_model[id] && !text.empty() && text.find('\0') == std::string::npos) vocabulary.emplace_back(text, id);
    }
    std::array<std::map<std::string, uint32_t>, 2> added;
    for (uint32_t i = 0; i < out_->added_tokens.size(); ++i) {
      const fb::AddedTokenT& token = *out_->added_tokens[i];
      const std::string pattern = token.normalized ? normalize(token.text) : token.text;
      const std::string where = fmt::format("added token {}", shown(token.text));
      if (pattern.size() > text::kMaxAddedBytes) {
        ++source_.unsupported;
        problem(where, fmt::format("has more than the {} bytes that this version takes; leave it out or shorten it",
                                   text::kMaxAddedBytes));
        continue;
      }
      if (std::all_of(pattern.begin(), pattern.end(), [](char c) { return c == ' '; })) {
        problem(where, "is blank once normalised; leave it out or set normalized to false");
      } else if (!added.at(token.normalized ? 1 : 0).emplace(pattern, i).second) {
        problem(where, "is the same as another added token once normalised; leave one out");
      }
    }
    if (!problems_.empty()) return;
    std::vector<uint8_t> words = build_word_table(vocabulary, source_.lowercase);
    bool fits = false;
    const Trie trie = build_trie(std::move(vocabulary), {added[0].begin(), added[0].end()},
                                 {added[1].begin(), added[1].end()}, source_.prefix, &fits);
    if (!fits) {
      ++source_.unsupported;
      problem("model.vocab", "needs more lookup table than this version takes (16 MiB); use a smaller vocabulary");
      return;
    }
    std::vector<uint32_t> begins = {0};
    std::vector<uint8_t> joined;
    for (const std::string& text : texts_) {
      joined.insert(joined.end(), text.begin(), text.end());
      begins.push_back(static_cast<uint32_t>(joined.size()));
    }
    using Name = fb::BlobName;  // in this order in the file
    const auto store = [&](Name name, std::vector<uint8_t> bytes) {
      auto blob = std::make_unique<fb::TokenizerBlobT>();
      blob->name = name;
      blob->data = std::make_unique<fb::Blob>();
      blobs.push_back({blob->data.get(), std::move(bytes)});
      out_->blobs.push_back(std::move(blob));
    };
    store(Name::token_text, std::move(joined));
    store(Name::token_begin, bytes_of(begins.data(), begins.size() * sizeof(uint32_t)));
    store(Name::trie, bytes_of(trie.units.data(), trie.units.size() * sizeof(uint32_t)));
    store(Name::roots, bytes_of(&trie.roots, sizeof(trie.roots)));
    if (!words.empty()) store(Name::words, std::move(words));
    if (source_.lowercase || source_.strip_accents) {
      store(Name::char_map, build_char_map(rules(), added[1].empty() ? &texts_ : nullptr));
    }
  }

  static std::vector<uint8_t> bytes_of(const void* data, size_t size) {
    std::vector<uint8_t> bytes(size);
    std::memcpy(bytes.data(), data, size);
    return bytes;
  }

  TokenizerSource& source_;
  ProblemList& problems_;
  std::unique_ptr<fb::TokenizerT> out_ = std::make_unique<fb::TokenizerT>();
  std::vector<std::string> texts_;  // by id, added tokens too
  std::vector<bool> known_;
  std::map<std::string, uint32_t> ids_;
  std::vector<uint32_t> purely_added_;
};

}  // namespace

TokenizerFiles read_tokenizer_files(const fs::path& dir) {
  TokenizerFiles files;
  const auto attempt = [&files](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      files.unreadable.insert(files.unreadable.end(), error.problems().begin(), error.problems().end());
    }
  };
  const auto object = [&](const char* name, Json& json) {
    if (is_there(dir / name)) attempt([&] { json = read_json_object(dir / name); });
  };
  object("tokenizer_config.json", files.config);
  object("tokenizer.json", files.json);
  if (!is_there(dir / "tokenizer.json") && is_there(dir / "vocab.txt")) {
    attempt([&] { files.vocab = read_text_file(dir / "vocab.txt"); });
  }
  object("special_tokens_map.json", files.special);
  // BPE; SentencePiece; tiktoken.
  for (const char* name : {"vocab.json", "merges.txt", "vocab.bpe", "bpe.codes", "encoder.json", "spiece.model",
                           "sentencepiece.bpe.model", "tokenizer.model", "spm.model", "source.spm", "target.spm",
                           "tokenizer.tiktoken", "qwen.tiktoken", "dict.txt"}) {
    if (is_there(dir / name)) files.others.emplace_back(name);
  }
  return files;
}

bool import_tokenizer(const fs::path& dir, Graph& graph, std::vector<std::string>& problems, bool* unsupported) {
  return import_tokenizer(read_tokenizer_files(dir), graph, problems, unsupported);
}

const char* const kWithoutTokenizer =
    "convert with --ids-only for a file that takes token ids, and tokenize with the original library";

bool import_tokenizer(const TokenizerFiles& files, Graph& graph, std::vector<std::string>& problems, bool* unsupported,
                      bool lowercase) {
  const bool has_json = files.json.is_object();
  if (unsupported != nullptr) *unsupported = false;
  if (!has_json && !files.vocab && files.unreadable.empty()) {
    if (files.others.empty()) return false;
    if (unsupported != nullptr) *unsupported = true;
    problems.push_back(
        fmt::format("{}: a tokenizer of this kind is not supported; this version takes WordPiece "
                    "tokenizers, from tokenizer.json or vocab.txt; {}",
                    fmt::join(files.others, ", "), kWithoutTokenizer));
    return false;
  }
  ProblemList found = files.unreadable;
  TokenizerSource source;
  if (has_json) {
    read_tokenizer_json(files.json, "tokenizer.json", source, found);
  } else if (files.vocab) {
    read_vocabulary_text(*files.vocab, "vocab.txt", files.config, "tokenizer_config.json", source, found);
  }
  read_tokenizer_config(files.special, "special_tokens_map.json", source, found);
  read_tokenizer_config(files.config, "tokenizer_config.json", source, found);
  source.lowercase = source.lowercase || lowercase;
  std::vector<RawBlob> blobs;
  std::unique_ptr<fb::TokenizerT> tokenizer;
  if (found.empty()) {
    if (!has_json) {
      for (const std::string* special : {&source.unknown, &source.sep, &source.pad, &source.cls, &source.mask}) {
        const auto in = [special](const auto& entry) { return entry.first == *special; };
        const auto same = [special](const AddedSource& added) { return added.text == *special; };
        if (std::any_of(source.vocabulary.begin(), source.vocabulary.end(), in) &&
            std::none_of(source.added.begin(), source.added.end(), same)) {
          source.added.push_back({*special, -1, true});
        }
      }
    }
    tokenizer = Assembler(source, found).assemble(blobs);
  }
  graph.notes.insert(graph.notes.end(), source.notes.begin(), source.notes.end());
  problems.insert(problems.end(), found.begin(), found.end());
  if (unsupported != nullptr) *unsupported = !found.empty() && source.unsupported == found.size();
  if (!tokenizer) return false;
  graph.model.tokenizers.push_back(std::move(tokenizer));
  for (RawBlob& blob : blobs) graph.blobs.push_back(std::move(blob));
  return true;
}

}  // namespace bantam::convert
