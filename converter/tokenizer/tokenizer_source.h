// The contents of a tokenizer's files, before they are converted to tables.
#ifndef BANTAM_CONVERTER_TOKENIZER_TOKENIZER_SOURCE_H_
#define BANTAM_CONVERTER_TOKENIZER_TOKENIZER_SOURCE_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bantam_generated.h"
#include "base/json_file.h"
#include "text/decode_rules.h"
#include "text/tables.h"
#include "tokenizer/sentencepiece_model.h"
#include "tokenizer/split_pattern.h"

namespace bantam::convert {

struct AddedSource {
  std::string text;
  int64_t id = -1;  // as stated in the file; -1: not stated
  bool special = false;
  bool single_word = false;
  bool lstrip = false;
  bool rstrip = false;
  bool normalized = false;
};

/// Tables of replacements of code points (form_tables.h).
enum class CodeMap {
  kNone,
  kCanonical,
  kCompatible,
  kLowercase,
  kStripAccents,
  kNmt,
  kBertText,
  kBertAccents,
  kBlanks,        // white space except the line feed becomes a space
  kNoPunctuation  // ASCII punctuation is removed
};

/// One normalizer in a sequence.
struct NormalStage {
  fb::NormalizerT rule;
  CodeMap map = CodeMap::kNone;
};

/// The pipeline that the files describe, in terms of a .bantam file.
struct TokenizerSource {
  std::string file;  // the vocabulary's file name in problems
  std::vector<std::pair<std::string, int64_t>> vocabulary;
  fb::NormalizerT bert;             // no flag set: no normalizer
  std::vector<NormalStage> stages;  // used instead of `bert`
  std::string charsmap;             // of the stage that uses one
  fb::SplitterT splitter;
  std::vector<SplitRule> rules;  // of the splitter `pattern`, applied in order
  bool prefix_words = false;     // words of all rules but the last get a leading space before the last rule splits them
  fb::TokenModelT model;
  uint64_t max_word_chars = 100;                            // model.max_word_chars, in the file's range of values
  std::string unknown = "[UNK]";                            // empty: none
  std::vector<std::pair<std::string, std::string>> merges;  // bpe: in the letters of the vocabulary
  std::string end_suffix;                                   // bpe: suffix of tokens that end a word
  std::string inner_prefix;                                 // bpe: prefix of tokens that continue a word
  bool trim_blanks = false;
  bool trim_prefix = false;
  std::vector<AddedSource> added;
  std::vector<std::string> hidden;    // tokens that only the model produces, after all others
  std::vector<double> hidden_scores;  // unigram: their scores

  std::string decoder;  // the blob `decoder`; empty: the model's usual decoding

  std::vector<double> scores;   // unigram: of the vocabulary's tokens, whose ids are 0, 1, ...
  std::vector<bool> silent;     // unigram: tokens that no text produces; missing entries are false
  bool byte_fallback = false;   // unigram, bpe: unknown text becomes byte tokens
  bool fuse_unknown = false;    // bpe: merges consecutive unknown code points
  bool all_grams = true;        // hashed: all n-grams exist; if false, only those in `grams`
  std::vector<uint32_t> grams;  // ascending numbers of n-grams

  bool is_wordpiece() const { return model.kind == fb::TokenModelKind::wordpiece; }
  bool is_unigram() const { return model.kind == fb::TokenModelKind::unigram; }
  bool is_bpe() const { return model.kind == fb::TokenModelKind::bpe; }
  bool is_hashed() const { return model.kind == fb::TokenModelKind::hashed; }
  bool is_of_code_points() const { return (model.traits & text::kCodePoints) != 0; }
  bool is_word_level() const { return (model.traits & text::kWordLevel) != 0; }
  bool has_pattern() const { return splitter.kind == fb::SplitterKind::pattern; }
  bool has_bert_words() const { return splitter.kind == fb::SplitterKind::bert; }
  bool has_marks() const { return splitter.kind == fb::SplitterKind::metaspace; }
  bool normalizes() const { return bert.clean_text || bert.split_chinese || bert.lowercase || bert.strip_accents; }
  /// token -1: the text of `sequence`; -2: the token `cls`; -3: the token `sep`.
  std::vector<fb::TemplatePiece> single = {fb::TemplatePiece(-1, 0, 0)};
  std::vector<fb::TemplatePiece> pair = {fb::TemplatePiece(-1, 0, 0), fb::TemplatePiece(-1, 1, 1)};
  fb::Truncation truncation = fb::Truncation::longest_first;
  bool truncate_left = false;
  uint32_t max_length = 0;
  // Texts of the special tokens, which the vocabulary need not contain.
  std::string pad = "[PAD]";
  std::string cls = "[CLS]";
  std::string sep = "[SEP]";
  std::string mask = "[MASK]";
  std::vector<std::string> notes;
  /// The number of problems that are about valid content that this version does not support.
  size_t unsupported = 0;
};

constexpr int32_t kTemplateCls = -2;
constexpr int32_t kTemplateSep = -3;

/// Lines for the user, each "FILE: FIELD: cause; next step".
using ProblemList = std::vector<std::string>;

/// Fills `source` from a parsed tokenizer.json. `config` is tokenizer_config.json, whose settings override the file's
/// for `tokenizer_class` as described at follow_class().
void read_tokenizer_json(const Json& json, const std::string& file, const std::string& tokenizer_class,
                         const Json& config, TokenizerSource& source, ProblemList& problems);

/// The class with which transformers reads a tokenizer: the one that tokenizer_config.json names, else that of
/// config.json's model_type. "": none that takes settings from tokenizer_config.json.
std::string tokenizer_class_of(const std::string& stated, const std::string& model_type);
/// Changes the parts of a tokenizer.json as the class does for `config`, with a note for each change.
void follow_class(const std::string& tokenizer_class, const Json& config, Json& normalizer, Json& splitter,
                  Json& processor, TokenizerSource& source);

/// Fills source.decoder from a tokenizer.json's decoder, with a note for unsupported parts.
void read_decoder(const Json& decoder, TokenizerSource& source);
/// Sets source.decoder to these rules, or to empty if they are the usual ones.
void set_decoder(TokenizerSource& source, text::DecodeKind kind, uint32_t flags, const std::string& text = "",
                 uint32_t strip = 0);

/// Fills source.rules from the parts of a tokenizer.json's splitter, which are objects other than Metaspace. *bytes:
/// the last part converts words to bytes.
void read_splitters(const std::vector<const Json*>& parts, TokenizerSource& source, ProblemList& problems, bool* bytes);

/// Fills source.stages with the steps of a BertNormalizer that is part of a sequence.
void read_bert_normalizer(const Json& normalizer, TokenizerSource& source);

/// Fills source.stages from the parts of a tokenizer.json's normalizer, which are objects.
void read_normalizers(const std::vector<const Json*>& parts, TokenizerSource& source, ProblemList& problems);

/// Fills `source` from the lines of a vocab.txt; missing settings in `config` default to BERT's.
void read_vocabulary_text(const std::string& text, const std::string& file, const Json& config,
                          const std::string& config_file, TokenizerSource& source, ProblemList& problems);

/// Fills `source` from vocab.json and merges.txt, with the settings of the tokenizer named by `config`
/// (tokenizer_config.json) or else by `model_type` (config.json): RoBERTa's, GPT-2's, CLIP's, GPT's or
/// BlenderbotSmall's.
void read_bpe_files(const Json& vocabulary, const std::string& merges, const Json& config,
                    const std::string& model_type, TokenizerSource& source, ProblemList& problems);

/// A word vocabulary, where ids are positions in the list, and how texts are split into words: for files of word
/// vectors and fastText's models.
struct WordList {
  std::string name;                // of the file
  std::vector<std::string> words;  // not empty, unique
  /// White space separates words; if false, words are runs of letters, digits and underscores, and runs of other
  /// characters.
  bool white_space = true;
  bool lowercase = false;
  /// fastText's settings: those of fb::TokenModel for `hashed`, and the existing n-grams. White space then separates
  /// words.
  bool hashed = false;
  fb::TokenModelT model;
  bool all_grams = true;
  std::vector<uint32_t> grams;
};

/// Fills `source` from a word list; words of a text that are not in it are dropped.
void read_word_list(const WordList& list, TokenizerSource& source, ProblemList& problems);

/// Reads the vocabulary from an object that maps tokens to ids; `where` is the object's path in source.file.
void read_vocabulary_object(const Json& vocabulary, const std::string& where, TokenizerSource& source,
                            ProblemList& problems);

/// A SentencePiece model and the type of model that it belongs to.
struct SentencePieceFile {
  std::string name;        // of the file
  std::string bytes;       // empty if `read` is given
  std::string model_type;  // from config.json, or ""
  Json numbers = {};       // ids of the pieces, if a vocabulary beside the model defines them (Marian, M2M-100)
  /// The model itself, if it comes from another kind of file.
  std::shared_ptr<const SentencePieceModel> read = nullptr;
};

/// Fills `source` from a SentencePiece model, with the settings of the tokenizer that `config` (tokenizer_config.json)
/// names, else of config.json's family, else of the family with the same special pieces.
void read_sentencepiece(const SentencePieceFile& file, const Json& config, TokenizerSource& source,
                        ProblemList& problems);

/// Fills source.added from added_tokens_decoder of a tokenizer_config.json.
void read_added_tokens(const Json& config, const std::string& file, TokenizerSource& source, ProblemList& problems);

/// Adds the tokens that `config` (complete_config()) names and the tokenizer's own file does not list as added, in
/// transformers' order. For tokens that both list, added_tokens_decoder overrides tokenizer.json.
void read_added_names(const Json& config, TokenizerSource& source, ProblemList& problems);

/// Reads the settings in tokenizer_config.json and special_tokens_map.json that apply to any kind of file: names of
/// special tokens, the maximum length, and contradictions that deserve a note.
void read_tokenizer_config(const Json& config, const std::string& file, TokenizerSource& source, ProblemList& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_TOKENIZER_SOURCE_H_
