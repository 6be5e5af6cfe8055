// The fields of a fb::Tokenizer, looked up once per call, and the way for tests and the converter to open a tokenizer
// without a file.
#ifndef BANTAM_TEXT_TABLES_H_
#define BANTAM_TEXT_TABLES_H_

#include <stdint.h>

#include "bantam/tokenizer.h"
#include "bantam_generated.h"
#include "linked.h"
#include "text/lexicon.h"
#include "text/normalizer.h"
#include "text/word_table.h"
#if BANTAM_IF_LINKED(normalizer_any) || BANTAM_IF_LINKED(splitter_pattern) || BANTAM_IF_LINKED(splitter_metaspace)
#include "text/normal_sequence.h"
#endif
#if BANTAM_IF_LINKED(splitter_pattern) || BANTAM_IF_LINKED(SplitPasses)
#include "text/split_table.h"
#endif
#if BANTAM_IF_LINKED(token_model_bpe)
#include "text/merge_table.h"
#endif
#if BANTAM_IF_LINKED(token_model_unigram)
#include "text/unigram_scores.h"
#endif

namespace bantam::text {

/// Returns the tokenizer's blob with this name; null if there is none. A verified tokenizer has every blob that it
/// needs. Names are ascending.
inline const fb::Blob* find_blob(const fb::Tokenizer& tokenizer, fb::BlobName name) {
  const auto* blobs = tokenizer.blobs();
  uint32_t at = blobs == nullptr ? 0 : blobs->size();
  if (at > static_cast<uint32_t>(name)) at = static_cast<uint32_t>(name) + 1;
  while (at > 0) {
    const fb::TokenizerBlob& blob = *blobs->Get(--at);
    if (blob.name() <= name) return blob.name() == name ? blob.data() : nullptr;
  }
  return nullptr;
}

/// A token as part of a text; `continues`: it continues the word of the preceding token.
struct TokenText {
  Text text;
  bool continues = false;
};

/// True if this build reads the blob `byte_tokens`.
constexpr bool kByteTokens =
    linked::kBpeWithUnknown || linked::token_model(static_cast<uint32_t>(fb::TokenModelKind::unigram));

/// Returns the settings of the tokenizer's normalizers; without normalizers they have no effect.
Normalization rules_of(const fb::Tokenizer& tokenizer);

/// Longest word, in code points, that a tokenizer may require to be looked up; longer ones become [UNK]. Bounds the
/// only buffer: 12 bytes of stack per code point, 4 in firmware. BERT needs 100.
constexpr uint32_t kMaxWordChars = kSmall ? 100 : 200;

/// The mark that represents a blank in files, and is treated as one in texts.
constexpr uint32_t kMetaspace = 0x2581;

/// Most bytes of a word that unigram models cut at once.
constexpr uint32_t kUnigramWord = 256;

/// fb::Splitter's fields for metaspace.
struct MetaspaceRules {
  bool prefix_blank;
  bool first_only;
  bool white_words;
  bool whole;
};

using AddedTokens = flatbuffers::Vector<flatbuffers::Offset<fb::AddedToken>>;

struct Tables {
  const fb::Tokenizer* source = nullptr;
  fb::SplitterKind splitter = fb::SplitterKind::bert;
  fb::TokenModelKind model = fb::TokenModelKind::wordpiece;
  Lexicon lexicon;
  WordTable words;
  uint32_t table_chars = 0;  // longest word to look up in `words`
  uint64_t ascii_fold = 0;   // bits that lower-casing sets in eight letters or digits
  Normalization rules;
#if BANTAM_IF_LINKED(normalizer_any) || BANTAM_IF_LINKED(splitter_pattern) || BANTAM_IF_LINKED(splitter_metaspace)
  NormalSequence sequence;
#endif
  uint32_t max_word_chars = 0;
  int32_t unknown_id = -1;
  const AddedTokens* added = nullptr;

  bool trim_blanks = false;
  bool trim_prefix = false;

  // pattern
#if BANTAM_IF_LINKED(splitter_pattern)
  SplitTable split;
#endif
  bool prefix_blank = false;
  // bpe
#if BANTAM_IF_LINKED(token_model_bpe)
  MergeTable merges;
#endif
  bool whole_words = false;
  // The members from here on and `sequence` are uninitialized if nothing that reads them is linked.
  uint32_t traits;              // bpe
  const uint8_t* split_passes;  // pattern, metaspace: the blob `split` if it has several tables or gaps; else null
  const uint32_t* of_byte;      // bpe, unigram: the tokens of bytes; null: none
  // metaspace, unigram
  MetaspaceRules metaspace;
#if BANTAM_IF_LINKED(token_model_unigram)
  UnigramScores scores;
#endif
  // hashed
  const uint32_t* buckets;  // the blob `buckets`; null: all n-grams exist
  uint32_t bucket_count;    // numbers in it

  /// `source` must have passed verify_tokenizer with this data section.
  Tables(const fb::Tokenizer& tokenizer, const uint8_t* data);
};

/// Bits of TokenModel.traits.
constexpr uint32_t kCodePoints = 1;
constexpr uint32_t kFuseUnknown = 2;
constexpr uint32_t kEndMarks = 4;
constexpr uint32_t kBeginMarks = 8;
constexpr uint32_t kWordLevel = 16;
constexpr uint32_t kAnyOrder = 32;
constexpr uint32_t kSomeBytes = 64;
constexpr uint32_t kSkipUnknown = 128;
constexpr uint32_t kTraitsEnd = 256;

/// Marks in tokens for the end and beginning of a word. They do not occur in texts: UTF-8 does not use these bytes.
constexpr uint8_t kEndMark = 0xF8;
constexpr uint8_t kBeginMark = 0xF9;

/// Returns only Tables::lexicon.
Lexicon lexicon_of(const fb::Tokenizer& tokenizer, const uint8_t* data);

/// Returns a tokenizer with tables that verify_tokenizer accepted; both must outlive it.
Tokenizer open_tables(const fb::Tokenizer& tokenizer, const uint8_t* data);

/// The tables of a tokenizer and their data section; null if it is not open.
const fb::Tokenizer* table_of(const Tokenizer& tokenizer);
const uint8_t* data_of(const Tokenizer& tokenizer);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_TABLES_H_
