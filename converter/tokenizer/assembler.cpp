#include "tokenizer/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>

#include "base/text_encoding.h"
#include "text/bpe.h"
#include "text/normalizer.h"
#include "text/tables.h"
#include "text/unigram.h"
#include "text/utf8.h"
#include "tokenizer/added_texts.h"
#include "tokenizer/bpe_tables.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/normal_tables.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_tables.h"
#include "tokenizer/unigram_tables.h"

namespace bantam::convert {
namespace {

constexpr size_t kMaxTokenBytes = 4096;
constexpr size_t kShownProblems = 8;  // of the same kind

/// A token as shown in problems: quoted, escaped, truncated.
std::string shown(const std::string& token) {
  std::string text = Json(token.substr(0, 40)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return token.size() > 40 ? text + "..." : text;
}

/// Builds a fb::TokenizerT from a source.
class Assembler {
 public:
  Assembler(TokenizerSource& source, ProblemList& problems) : source_(source), problems_(problems) {}

  std::unique_ptr<fb::TokenizerT> assemble(std::vector<RawBlob>& blobs) {
    if (!source_.stages.empty()) forms_ = build_forms(source_.stages, source_.charsmap);
    collect_vocabulary();
    if (!problems_.empty()) return nullptr;
    collect_added();
    collect_hidden();
    check_fallback();
    find_specials();
    if (source_.max_word_chars > text::kMaxWordChars) {
      ++source_.unsupported;
      problem("model.max_input_chars_per_word",
              fmt::format("{} is more than the {} that this version takes; set it lower if no word is so long",
                          source_.max_word_chars, text::kMaxWordChars));
    }
    const std::string& prefix = source_.model.continuing_prefix;
    if (prefix.size() > 64 || prefix.find('\0') != std::string::npos) {
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

  /// Fills texts_[id] for the model's own vocabulary; reports the first few violations of each rule.
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
      if (!source_.is_hashed() && !is_utf8(token)) complain(token, "is not valid UTF-8; correct the file's encoding");
      if (source_.is_wordpiece() && !source_.bert.clean_text && token.find('\0') != std::string::npos) {
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

  /// Numbers added tokens as Hugging Face does: those in the vocabulary keep their id, others follow it in order,
  /// whatever the file says.
  void collect_added() {
    const size_t vocabulary = ids_.size();
    uint32_t next = static_cast<uint32_t>(vocabulary);
    std::map<std::string, AddedSource> latest;
    std::vector<std::string> order;
    for (const AddedSource& added : source_.added) {
      const std::string where = fmt::format("added token {}", shown(added.text));
      if (added.text.empty()) continue;  // as in Hugging Face's library
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

  /// Appends hidden tokens after all tokens that texts may have.
  void collect_hidden() {
    if (source_.hidden.empty()) return;
    hidden_from_ = static_cast<uint32_t>(texts_.size());
    source_.scores.resize(source_.is_unigram() ? texts_.size() : 0, 0);
    for (size_t i = 0; i < source_.hidden.size(); ++i) {
      const std::string& token = source_.hidden[i];
      const auto id = static_cast<uint32_t>(texts_.size());
      if (token.empty() || token.size() > kMaxTokenBytes || !is_utf8(token) || !ids_.emplace(token, id).second)
        continue;
      texts_.push_back(token);
      known_.push_back(true);
      if (source_.is_unigram()) source_.scores.push_back(source_.hidden_scores[i]);
    }
    if (texts_.size() > text::kMaxVocabulary) {
      problem("model.vocab", fmt::format("has more than {} tokens with those that merges make", text::kMaxVocabulary));
    }
  }

  int32_t id_of(const std::string& token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() || token.empty() ? -1 : static_cast<int32_t>(found->second);
  }

  void find_specials() {
    out_->model = std::make_unique<fb::TokenModelT>(source_.model);
    out_->model->unknown_id = id_of(source_.unknown);
    out_->model->hidden_from = hidden_from_;
    if (source_.is_unigram()) out_->model->unknown_score = unknown_score(source_.scores, source_.silent);
    const bool skips = source_.is_hashed() || (source_.model.traits & text::kSkipUnknown) != 0;
    const bool needed = source_.is_of_code_points() ? !source_.byte_fallback : !source_.is_bpe();
    if (out_->model->unknown_id < 0 && (needed || source_.is_word_level()) && !skips) {
      problem("unk_token",
              fmt::format("{} is not in the vocabulary; name the token for unknown words", shown(source_.unknown)));
    }
    out_->pad_id = special_id(source_.pad, "<pad>");
    out_->cls_id = special_id(source_.cls, "<s>");
    out_->sep_id = special_id(source_.sep, "</s>");
    out_->mask_id = special_id(source_.mask, "<mask>");
    if (source_.is_bpe() && !skips && out_->model->unknown_id < 0) out_->model->unknown_id = special_id("", "<unk>");
  }

  /// Tokenizers other than BERT's often leave the special tokens' names to the code that reads them; they then use
  /// RoBERTa's names.
  int32_t special_id(const std::string& token, const std::string& usual) const {
    const int32_t id = id_of(token);
    return id < 0 && !source_.is_wordpiece() ? id_of(usual) : id;
  }

  void fill_settings() {
    for (const NormalStage& stage : source_.stages) {
      out_->normalizers.push_back(std::make_unique<fb::NormalizerT>(stage.rule));
    }
    if (source_.normalizes()) out_->normalizers.push_back(std::make_unique<fb::NormalizerT>(source_.bert));
    out_->splitters.push_back(std::make_unique<fb::SplitterT>(source_.splitter));
    if (source_.is_wordpiece()) out_->model->max_word_chars = static_cast<uint32_t>(source_.max_word_chars);
    out_->trim_blanks = source_.trim_blanks;
    out_->trim_prefix = source_.trim_prefix;
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
    return {source_.bert.clean_text, source_.bert.split_chinese, source_.bert.lowercase, source_.bert.strip_accents};
  }

  /// Normalizes an added token's text with the runtime's own normalizer.
  std::string normalize(const std::string& text) const {
    if (!source_.stages.empty()) return normalize_in_row(source_.stages, forms_, source_.charsmap, text);
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

  AddedTexts added_texts() {
    AddedTexts added;
    for (uint32_t i = 0; i < out_->added_tokens.size(); ++i) {
      const fb::AddedTokenT& token = *out_->added_tokens[i];
      const std::string pattern = token.normalized ? normalize(token.text) : token.text;
      const std::string where = fmt::format("added token {}", shown(token.text));
      if (!source_.has_bert_words() && pattern.empty()) {
        problem(where, "is nothing once normalised; leave it out or set normalized to false");
        continue;
      }
      if (pattern.size() > text::kMaxAddedBytes) {
        ++source_.unsupported;
        problem(where, fmt::format("has more than the {} bytes that this version takes; leave it out or shorten it",
                                   text::kMaxAddedBytes));
        continue;
      }
      if (source_.has_bert_words() && std::all_of(pattern.begin(), pattern.end(), [](char c) { return c == ' '; })) {
        problem(where, "is blank once normalised; leave it out or set normalized to false");
      } else if (!added.at(token.normalized ? 1 : 0).emplace(pattern, i).second) {
        problem(where, "is the same as another added token once normalised; leave one out");
      }
    }
    return added;
  }

  /// Without a normalizer and without texts that may rival, one search of the raw text finds both kinds.
  void join_added_texts(AddedTexts& added) {
    if (!source_.stages.empty() || may_rival(added, out_->added_tokens)) return;
    added[0].insert(added[1].begin(), added[1].end());
    added[1].clear();
    for (auto& token : out_->added_tokens) token->normalized = false;
  }

  void fill_tables(std::vector<RawBlob>& blobs) {
    std::vector<bool> in_model(texts_.size(), true);
    for (const uint32_t id : purely_added_) in_model[id] = false;
    AddedTexts added = added_texts();
    BpeTables bpe;
    std::vector<uint8_t> split;
    if (!source_.has_bert_words()) join_added_texts(added);
    if (!source_.rules.empty()) split = split_tables();
    if (source_.has_marks()) take_blanks(in_model);
    if (source_.is_bpe()) bpe = merge_tables(in_model);
    for (size_t id = 0; id < source_.silent.size(); ++id) in_model[id] = in_model[id] && !source_.silent[id];
    if (source_.is_unigram()) check_unigram(in_model);
    if (source_.byte_fallback) take_byte_tokens();
    if (!problems_.empty()) return;
    TrieKeys vocabulary;
    for (uint32_t id = 0; id < texts_.size(); ++id) {
      const std::string& text = texts_[id];
      if (in_model[id] && !text.empty() && (!source_.is_wordpiece() || text.find('\0') == std::string::npos)) {
        vocabulary.emplace_back(text, id);
      }
    }
    std::vector<uint8_t> words;
    if (source_.has_bert_words()) words = build_word_table(vocabulary, source_.bert.lowercase);
    if (source_.is_bpe()) {
      const auto choose = source_.has_marks() ? bpe_words_behind_blanks : bpe_words;
      const TrieKeys all = marked_words(vocabulary, source_.model.traits);
      words = build_word_table(choose(all, bpe.entries, source_.model.whole_words || source_.is_word_level()));
    }
    const TrieKeys tokens = source_.is_unigram() ? vocabulary : TrieKeys();
    if (!source_.is_wordpiece()) vocabulary = trie_keys_of_bytes(vocabulary);
    bool fits = false;
    const Trie trie = build_trie(std::move(vocabulary), {added[0].begin(), added[0].end()},
                                 {added[1].begin(), added[1].end()}, source_.model.continuing_prefix, &fits);
    if (!fits) {
      ++source_.unsupported;
      problem("model.vocab", "needs more lookup table than this version takes (16 MiB); use a smaller vocabulary");
      return;
    }
    const std::vector<uint8_t> scores = build_scores(source_.scores);
    if (source_.is_unigram()) {
      words = build_word_table(unigram_words(tokens, trie, texts_, scores, out_->model->unknown_score,
                                             static_cast<uint32_t>(out_->model->unknown_id)));
    }
    std::vector<uint32_t> begins = {0};
    std::vector<uint8_t> joined;
    for (const std::string& text : texts_) {
      joined.insert(joined.end(), text.begin(), text.end());
      begins.push_back(static_cast<uint32_t>(joined.size()));
    }
    using Name = fb::BlobName;  // the order in the file
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
    if (source_.bert.lowercase || source_.bert.strip_accents) {
      store(Name::char_map, build_char_map(rules(), added[1].empty() ? &texts_ : nullptr));
    }
    if (source_.is_bpe()) {
      store(Name::merges, bytes_of(bpe.entries.data(), bpe.entries.size() * sizeof(text::MergeEntry)));
      store(Name::pairs, bytes_of(bpe.pairs.data(), bpe.pairs.size() * sizeof(uint32_t)));
    }
    if (!split.empty()) store(Name::split, std::move(split));
    if (!forms_.empty()) store(Name::forms, std::move(forms_));
    if (!source_.charsmap.empty()) store(Name::charsmap, bytes_of(source_.charsmap.data(), source_.charsmap.size()));
    if (source_.is_unigram()) store(Name::scores, scores);
    if (!byte_tokens_.empty()) store(Name::byte_tokens, bytes_of(byte_tokens_.data(), 4 * byte_tokens_.size()));
    if (!source_.decoder.empty()) store(Name::decoder, bytes_of(source_.decoder.data(), source_.decoder.size()));
    if (!source_.all_grams) store(Name::buckets, bytes_of(source_.grams.data(), 4 * source_.grams.size()));
  }

  /// Replaces U+2581 by spaces in the model's tokens. A token that already contains a space is in no word.
  void take_blanks(std::vector<bool>& in_model) {
    for (uint32_t id = 0; id < texts_.size(); ++id) {
      std::string& text = texts_[id];
      if (!in_model[id]) continue;
      if (text.find(' ') != std::string::npos) in_model[id] = false;
      for (size_t at = 0; (at = text.find("\u2581", at)) != std::string::npos;) text.replace(at, 3, " ");
    }
  }

  void check_unigram(const std::vector<bool>& in_model) {
    source_.scores.resize(texts_.size(), 0);
    for (uint32_t id = 0; id < texts_.size(); ++id) {
      const std::string& text = texts_[id];
      if (in_model[id] && text.size() > text::kMaxUnigramToken) {
        ++source_.unsupported;
        problem("model.vocab", fmt::format("token {} has more than the {} bytes that this version takes", shown(text),
                                           text::kMaxUnigramToken));
      }
    }
    const auto is_bad = [](double score) { return !std::isfinite(score); };
    const auto bad = std::find_if(source_.scores.begin(), source_.scores.end(), is_bad) - source_.scores.begin();
    if (static_cast<size_t>(bad) < source_.scores.size()) {
      problem(fmt::format("model.vocab[{}]", bad), "has a score that is not a finite number; correct it");
    }
  }

  static std::string byte_token(uint32_t byte) { return fmt::format("<0x{:02X}>", byte); }

  /// Disables byte fallback if there are no byte tokens.
  void check_fallback() {
    for (uint32_t byte = 0; source_.byte_fallback && byte < 256; ++byte) {
      if (ids_.count(byte_token(byte)) > 0) return;
    }
    source_.byte_fallback = false;
  }

  /// Returns true if text that the model does not know may contain the byte.
  bool may_be_unknown(uint32_t byte) const {
    if (byte == 0xC0 || byte == 0xC1 || byte > 0xF4) return false;  // not in UTF-8
    if (byte > 0x7F) return true;
    const bool blank = byte == ' ' && source_.has_marks();
    return ids_.count(blank ? "\u2581" : std::string(1, static_cast<char>(byte))) == 0;
  }

  /// Collects the byte tokens. A missing one is replaced by the unknown token: characters with that byte are unknown as
  /// a whole.
  void take_byte_tokens() {
    const int32_t unknown = out_->model->unknown_id;
    std::string missing;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const auto found = ids_.find(byte_token(byte));
      byte_tokens_.push_back(found != ids_.end() ? found->second : static_cast<uint32_t>(std::max(unknown, 0)));
      if (found == ids_.end() && missing.empty() && may_be_unknown(byte)) missing = byte_token(byte);
    }
    if (missing.empty() || (source_.is_bpe() && unknown >= 0 && !source_.fuse_unknown)) return;
    ++source_.unsupported;
    problem("model.byte_fallback",
            fmt::format("needs a token for each byte of unknown text, and {} is not in the vocabulary; {}", missing,
                        kWithoutTokenizer));
  }

  std::vector<uint8_t> split_tables() {
    try {
      return compile_split(source_.rules, source_.prefix_words, source_.has_marks());
    } catch (const std::invalid_argument& error) {
      std::string patterns;
      for (const SplitRule& rule : source_.rules) patterns += (patterns.empty() ? "" : ", ") + rule.pattern;
      ++source_.unsupported;
      problem("pre_tokenizer.pattern",
              fmt::format("{} is not supported: {}; {}", shown(patterns), error.what(), kWithoutTokenizer));
      return {};
    }
  }

  /// Converts the model's token texts to bytes, and the merges to tables. Texts with letters that represent no bytes
  /// stay unchanged and no longer belong to the model: no word produces them.
  BpeTables merge_tables(std::vector<bool>& in_model) {
    std::vector<Merge> merges = resolve_merges(in_model);
    std::vector<std::string> tokens(texts_.size());
    const Spelling spelling = {source_.is_of_code_points(), source_.end_suffix, source_.inner_prefix};
    for (uint32_t id = 0; id < texts_.size(); ++id) {
      if (!in_model[id]) continue;
      std::string bytes;
      const Spelling::Token is = spelling.spell(texts_[id], &bytes);
      in_model[id] = is == Spelling::Token::kOwn;
      if (is != Spelling::Token::kNone) texts_[id] = bytes;
      if (in_model[id]) tokens[id] = bytes;
      if (in_model[id] && bytes.size() > text::kMaxBpeToken && !source_.is_word_level()) {
        ++source_.unsupported;
        problem("model.vocab", fmt::format("token {} has more than the {} bytes that this version takes", shown(bytes),
                                           text::kMaxBpeToken));
      }
    }
    check_marks(in_model, merges);
    BpeTables tables = build_bpe_tables(tokens, merges, source_.model.traits);
    if (!tables.missing.empty()) take_missing(tables.missing);
    if (tables.disorder) source_.model.traits |= text::kAnyOrder;
    out_->model->traits = source_.model.traits;
    check_unknown(merges);
    if (tables.pairs.empty()) problem("model.merges", "are too many");
    return tables;
  }

  /// Bytes that are not tokens are unknown. Without an unknown token, Hugging Face's library drops them from words; the
  /// text after them in a word then gets the offsets of as many letters before, possibly half a letter.
  void take_missing(const std::vector<uint32_t>& missing) {
    const int32_t unknown = id_of(source_.unknown);
    const auto added = std::find(purely_added_.begin(), purely_added_.end(), static_cast<uint32_t>(unknown));
    if (unknown >= 0 && added == purely_added_.end()) {
      source_.model.traits |= text::kSomeBytes | (source_.fuse_unknown ? text::kFuseUnknown : 0);
      return;
    }
    ++source_.unsupported;
    problem("model.vocab", fmt::format("{} bytes that texts may have are not tokens, the first of them 0x{:02x}, and "
                                       "model.unk_token names no token for them; name one of model.vocab, or {}",
                                       missing.size(), missing.front(), kWithoutTokenizer));
  }

  /// Hugging Face's library continues to merge with the unknown token; bantam never merges it.
  void check_unknown(const std::vector<Merge>& merges) {
    const bool of_units = source_.is_of_code_points() || (source_.model.traits & text::kSomeBytes) != 0;
    const int32_t unknown = of_units && !source_.byte_fallback ? id_of(source_.unknown) : -1;
    const auto names = [unknown](const Merge& merge) {
      return unknown >= 0 &&
             (merge.left == static_cast<uint32_t>(unknown) || merge.right == static_cast<uint32_t>(unknown));
    };
    if (std::none_of(merges.begin(), merges.end(), names)) return;
    ++source_.unsupported;
    problem("model.merges", fmt::format("merge the unknown token {} with others, which this version does not; {}",
                                        shown(source_.unknown), kWithoutTokenizer));
  }

  /// A merge must produce the concatenation of its two tokens, including marks. Merges after the end of a word or
  /// before its beginning never happen and are removed.
  void check_marks(const std::vector<bool>& in_model, std::vector<Merge>& merges) {
    if ((source_.model.traits & (text::kEndMarks | text::kBeginMarks)) == 0) return;
    const auto never = [&](const Merge& merge) {
      const std::string& left = texts_[merge.left];
      const std::string& right = texts_[merge.right];
      const bool own = in_model[merge.left] && in_model[merge.right];
      return !own || (!source_.end_suffix.empty() && static_cast<uint8_t>(left.back()) == text::kEndMark) ||
             (!source_.inner_prefix.empty() && static_cast<uint8_t>(right.front()) == text::kBeginMark);
    };
    merges.erase(std::remove_if(merges.begin(), merges.end(), never), merges.end());
    for (const Merge& merge : merges) {
      if (in_model[merge.whole] && texts_[merge.left] + texts_[merge.right] == texts_[merge.whole]) continue;
      ++source_.unsupported;
      problem("model.merges",
              fmt::format("what {} and {} make looks like a token with {} {}; {}", shown(texts_[merge.left]),
                          shown(texts_[merge.right]),
                          source_.end_suffix.empty() ? "continuing_subword_prefix" : "end_of_word_suffix",
                          shown(source_.end_suffix.empty() ? source_.inner_prefix : source_.end_suffix),
                          kWithoutTokenizer));
      return;
    }
  }

  /// Returns the merges whose tokens all exist; the others become problems.
  std::vector<Merge> resolve_merges(const std::vector<bool>& in_model) {
    std::vector<Merge> merges;
    size_t bad = 0;
    const size_t prefix = source_.inner_prefix.size();
    const auto find = [&](const std::string& token) {
      const auto found = ids_.find(token);
      return found == ids_.end() || !in_model[found->second] ? text::kNoToken : found->second;
    };
    for (size_t i = 0; i < source_.merges.size(); ++i) {
      const auto& [left, right] = source_.merges[i];
      // As in Hugging Face's library, which removes that many bytes whatever they are.
      const std::string whole = left + (right.size() < prefix ? "" : right.substr(prefix));
      const Merge merge = {find(left), find(right), find(whole)};
      const bool has_left = merge.left != text::kNoToken;
      if (has_left && merge.right != text::kNoToken && merge.whole != text::kNoToken) {
        merges.push_back(merge);
        continue;
      }
      if (++bad > kShownProblems) continue;
      const std::string missing = !has_left ? left : merge.right == text::kNoToken ? right : whole;
      problem(fmt::format("model.merges[{}]", i),
              fmt::format("names token {}, which is not in model.vocab; add it or remove the merge", shown(missing)));
    }
    if (bad > kShownProblems) problem("model.merges", fmt::format("{} more such merges", bad - kShownProblems));
    return merges;
  }

  static std::vector<uint8_t> bytes_of(const void* data, size_t size) {
    std::vector<uint8_t> bytes(size);
    std::memcpy(bytes.data(), data, size);
    return bytes;
  }

  TokenizerSource& source_;
  ProblemList& problems_;
  std::unique_ptr<fb::TokenizerT> out_ = std::make_unique<fb::TokenizerT>();
  std::vector<uint8_t> forms_;
  std::vector<uint32_t> byte_tokens_;
  std::vector<std::string> texts_;  // by id, including added tokens
  std::vector<bool> known_;
  std::map<std::string, uint32_t> ids_;
  std::vector<uint32_t> purely_added_;
  uint32_t hidden_from_ = 0;  // 0: none are hidden
};

}  // namespace

std::unique_ptr<fb::TokenizerT> assemble_tokenizer(TokenizerSource& source, ProblemList& problems,
                                                   std::vector<RawBlob>& blobs) {
  return Assembler(source, problems).assemble(blobs);
}

}  // namespace bantam::convert
