// The contents of a tokenizer's files, before tables are made from them.
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
  int64_t id = -1;  // as the file says; -1: it does not
  bool special = false;
  bool single_word = false;
  bool lstrip = false;
  bool rstrip = false;
  bool normalized = false;
};

/// Tables of what code points become (form_tables.h).
enum class CodeMap {
  kNone,
  kCanonical,
  kCompatible,
  kLowercase,
  kStripAccents,
  kNmt,
  kBertText,
  kBertAccents,
  kBlanks,        // white space but the line feed: a blank
  kNoPunctuation  // ASCII's punctuation: nothing
};

/// A normaliser in a row of them.
struct NormalStage {
  fb::NormalizerT rule;
  CodeMap map = CodeMap::kNone;
};

/// The pipeline as the files describe it, in the terms of a .bantam file.
struct TokenizerSource {
  std::string file;  // what problems call the vocabulary's file
  std::vector<std::pair<std::string, int64_t>> vocabulary;
  fb::NormalizerT bert;             // flags none: no normaliser
  std::vector<NormalStage> stages;  // instead of it
  std::string charsmap;             // of the one that has it
  fb::SplitterT splitter;
  std::vector<SplitRule> rules;  // of the splitter `pattern`, one after the other
  bool prefix_words = false;     // the words of the rules but the last one get a blank before that splits them
  fb::TokenModelT model;
  uint64_t max_word_chars = 100;                            // model.max_word_chars, as large as a file can say
  std::string unknown = "[UNK]";                            // empty: there is none
  std::vector<std::pair<std::string, std::string>> merges;  // bpe: in the letters of the vocabulary
  std::string end_suffix;                                   // bpe: of tokens that end a word
  std::string inner_prefix;                                 // bpe: of tokens that continue a word
  bool trim_blanks = false;
  bool trim_prefix = false;
  std::vector<AddedSource> added;
  std::vector<std::string> hidden;    // tokens that only the model knows, behind all others
  std::vector<double> hidden_scores;  // unigram: theirs

  std::string decoder;  // the blob `decoder`; empty: tokens become text as usual for the model

  std::vector<double> scores;   // unigram: of the vocabulary's tokens, which have the ids 0, 1, ...
  std::vector<bool> silent;     // unigram: of these, which no text becomes; shorter: the others are not
  bool byte_fallback = false;   // unigram, bpe: the tokens of its bytes stand for what is unknown
  bool fuse_unknown = false;    // bpe: of code points
  bool all_grams = true;        // hashed: all n-grams are there, or
  std::vector<uint32_t> grams;  // those of these numbers, which ascend

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
  // Texts of the special tokens; the vocabulary need not have them.
  std::string pad = "[PAD]";
  std::string cls = "[CLS]";
  std::string sep = "[SEP]";
  std::string mask = "[MASK]";
  std::vector<std::string> notes;
  /// How many of the problems are about something well formed that this version does not execute.
  size_t unsupported = 0;
};

constexpr int32_t kTemplateCls = -2;
constexpr int32_t kTemplateSep = -3;

/// Lines for the user, each "FILE: FIELD: cause; next step".
using ProblemList = std::vector<std::string>;

/// Fills `source` from a parsed tokenizer.json. `config` is tokenizer_config.json, whose settings count before the file's for
/// `tokenizer_class` as follow_class() says.
void read_tokenizer_json(const Json& json, const std::string& file, const std::string& tokenizer_class,
                         const Json& config, TokenizerSource& source, ProblemList& problems);

/// The class that transformers reads a tokenizer by: the one that tokenizer_config.json names, else that of config.json's
/// model_type. "": none that takes settings from tokenizer_config.json.
std::string tokenizer_class_of(const std::string& stated, const std::string& model_type);
/// Changes the parts of a tokenizer.json as the class does by `config`, each change with a note.
void follow_class(const std::string& tokenizer_class, const Json& config, Json& normalizer, Json& splitter,
                  Json& processor, TokenizerSource& source);

/// Fills source.decoder from a tokenizer.json's decoder, what is not executed with a note.
void read_decoder(const Json& decoder, TokenizerSource& source);
/// Fills it with these rules, or with nothing where they are as usual.
void set_decoder(TokenizerSource& source, text::DecodeKind kind, uint32_t flags, const std::string& text = "",
                 uint32_t strip = 0);

/// Fills source.rules from the parts of a tokenizer.json's splitter, which are objects, but not Metaspace. *bytes: the last of
/// them makes bytes of words.
void read_splitters(const std::vector<const Json*>& parts, TokenizerSource& source, ProblemList& problems, bool* bytes);

/// Fills source.stages with what BERT's normaliser, a part of a tokenizer.json's, does.
void read_bert_normalizer(const Json& normalizer, TokenizerSource& source);

/// Fills source.stages from the parts of a tokenizer.json's normaliser, which are objects.
void read_normalizers(const std::vector<const Json*>& parts, TokenizerSource& source, ProblemList& problems);

/// Fills `source` from the lines of a vocab.txt, with BERT's own settings where `config` is silent.
void read_vocabulary_text(const std::string& text, const std::string& file, const Json& config,
                          const std::string& config_file, TokenizerSource& source, ProblemList& problems);

/// Fills `source` from vocab.json and merges.txt, with the settings of the tokenizer that `config` (tokenizer_config.json) or else
/// `model_type` (config.json) names: RoBERTa's, GPT-2's, CLIP's, GPT's or BlenderbotSmall's.
void read_bpe_files(const Json& vocabulary, const std::string& merges, const Json& config,
                    const std::string& model_type, TokenizerSource& source, ProblemList& problems);

/// A vocabulary of words, whose ids are their places, and how texts become them: files of word vectors and fastText's models.
struct WordList {
  std::string name;                // of the file
  std::vector<std::string> words;  // none empty, none twice
  /// Words are what lies between white space; else runs of letters, digits and underscores, and runs of other characters.
  bool white_space = true;
  bool lowercase = false;
  /// fastText's settings: those of fb::TokenModel for `hashed`, and the n-grams that there are. Words are then between white space.
  bool hashed = false;
  fb::TokenModelT model;
  bool all_grams = true;
  std::vector<uint32_t> grams;
};

/// Fills `source` from a list of words; those that a text has beside them are left out.
void read_word_list(const WordList& list, TokenizerSource& source, ProblemList& problems);

/// Reads a list of tokens from an object of tokens and their ids; `where` is the object's place in source.file.
void read_vocabulary_object(const Json& vocabulary, const std::string& where, TokenizerSource& source,
                            ProblemList& problems);

/// A SentencePiece model and what says whose it is.
struct SentencePieceFile {
  std::string name;        // of the file
  std::string bytes;       // unless `read` is given
  std::string model_type;  // of config.json, or nothing
  Json numbers = {};       // of pieces, where a vocabulary beside it has them (Marian, M2M-100)
  std::shared_ptr<const SentencePieceModel> read = nullptr;  // of another kind of file that says the same
};

/// Fills `source` from a SentencePiece model, with the settings of the tokenizer that `config` (tokenizer_config.json) names,
/// else of the family of config.json, else of the one that has such special pieces.
void read_sentencepiece(const SentencePieceFile& file, const Json& config, TokenizerSource& source,
                        ProblemList& problems);

/// Fills source.added from added_tokens_decoder of a tokenizer_config.json.
void read_added_tokens(const Json& config, const std::string& file, TokenizerSource& source, ProblemList& problems);

/// Adds the tokens that `config` (complete_config()) names and the tokenizer's own file does not list as added, in transformers'
/// order; of tokens that both list, those of added_tokens_decoder count before tokenizer.json's.
void read_added_names(const Json& config, TokenizerSource& source, ProblemList& problems);

/// Reads what either kind of file may have beside it in tokenizer_config.json and special_tokens_map.json: special
/// tokens' names, the greatest length, contradictions worth a note.
void read_tokenizer_config(const Json& config, const std::string& file, TokenizerSource& source, ProblemList& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_TOKENIZER_SOURCE_H_
