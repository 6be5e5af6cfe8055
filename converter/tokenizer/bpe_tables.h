// From the merges of a byte pair encoding to the tables of runtime/text/merge_table.h.
#ifndef BANTAM_CONVERTER_TOKENIZER_BPE_TABLES_H_
#define BANTAM_CONVERTER_TOKENIZER_BPE_TABLES_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/merge_table.h"
#include "tokenizer/tokenizer_tables.h"

namespace bantam::convert {

/// Two tokens that merge into a third.
struct Merge {
  uint32_t left;
  uint32_t right;
  uint32_t whole;
};

/// Merges by the definition: of all neighbours it takes the pair with the lowest rank, the leftmost of equals. O(n^2).
class Merging {
 public:
  struct Result {
    uint32_t whole;
    uint32_t rank;
  };

  /// A pair that occurs twice in `merges` has its last place; one with a part that is not a token (kNoToken) merges
  /// nothing.
  explicit Merging(const std::vector<Merge>& merges);

  /// Merges `ids` in place. *last: the merge done last, if there was one; *pair: what it merged.
  void merge(std::vector<uint32_t>* ids, Result* last, Merge* pair) const;

 private:
  std::unordered_map<uint64_t, Result> pairs_;
};

struct BpeTables {
  std::vector<text::MergeEntry> entries;
  std::vector<uint32_t> pairs;    // the blob's words
  std::vector<uint32_t> missing;  // bytes that are no token
  bool disorder = false;          // a token is made by a merge that comes before one of its parts' own
};

/// `tokens` by id, as bytes; empty: not the model's. A token that no merge can leave is entered as never made. `traits`: of
/// TokenModel. Words are code points at first, or bytes, of which `missing` tells those without a token.
BpeTables build_bpe_tables(const std::vector<std::string>& tokens, const std::vector<Merge>& merges, uint32_t traits);

/// How tokens of a vocabulary become those that the runtime reads.
struct Spelling {
  enum class Token {
    kOwn,          // words may lead to it
    kUnreachable,  // its bytes are in no text
    kNone,         // it stays as it is
  };
  bool code_points = false;  // letters stand for themselves, not for bytes
  std::string end_suffix;    // of tokens that end a word, which get a mark instead
  std::string inner_prefix;  // of tokens that continue a word; the others get a mark

  Token spell(const std::string& token, std::string* bytes) const;
};

/// Tokens (bytes, id) that words can be looked up as in a table; all that fit it with `whole_words`, else those made of
/// their own bytes.
TrieKeys bpe_words(const TrieKeys& tokens, const std::vector<text::MergeEntry>& entries, bool whole_words);

/// The tokens that are whole words, without their marks; without such traits, all tokens unchanged.
TrieKeys marked_words(const TrieKeys& tokens, uint32_t traits);

/// Like bpe_words, for tokens that begin with a blank; the keys lack that blank.
TrieKeys bpe_words_behind_blanks(const TrieKeys& tokens, const std::vector<text::MergeEntry>& entries,
                                 bool whole_words);

/// The keys under which a trie has tokens that are bytes: without those that UTF-8 never leads to, and zeros as the label
/// that stands for them.
TrieKeys trie_keys_of_bytes(const TrieKeys& tokens);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_BPE_TABLES_H_
