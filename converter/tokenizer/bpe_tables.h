// Converts the merges of a byte pair encoding to the tables of runtime/text/merge_table.h.
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

/// Reference implementation of merging: repeatedly merges the adjacent pair with the lowest rank, the leftmost of
/// equals. O(n^2).
class Merging {
 public:
  struct Result {
    uint32_t whole;
    uint32_t rank;
  };

  /// A pair that occurs twice in `merges` has the rank of its last occurrence. A pair with a part that is not a token
  /// (kNoToken) merges nothing.
  explicit Merging(const std::vector<Merge>& merges);

  /// Merges `ids` in place. If there was a merge, *last is the last one, and *pair are its tokens.
  void merge(std::vector<uint32_t>* ids, Result* last, Merge* pair) const;

 private:
  std::unordered_map<uint64_t, Result> pairs_;
};

struct BpeTables {
  std::vector<text::MergeEntry> entries;
  std::vector<uint32_t> pairs;    // the words of the blob
  std::vector<uint32_t> missing;  // bytes that are not tokens
  bool disorder = false;          // a token is produced by a merge that ranks before one of its parts' own merges
};

/// `tokens`: bytes by id; empty if a token does not belong to the model. A token that no merge sequence can produce is
/// marked as never made. `traits`: of TokenModel. Merging starts from code points or bytes; `missing` lists the bytes
/// that are not tokens.
BpeTables build_bpe_tables(const std::vector<std::string>& tokens, const std::vector<Merge>& merges, uint32_t traits);

/// How the tokens of a vocabulary are converted to those that the runtime reads.
struct Spelling {
  enum class Token {
    kOwn,          // words may produce it
    kUnreachable,  // no text contains its bytes
    kNone,         // it stays unchanged
  };
  bool code_points = false;  // letters represent themselves, not bytes
  std::string end_suffix;    // suffix of tokens that end a word; replaced by a mark
  std::string inner_prefix;  // prefix of tokens that continue a word; the others get a mark

  Token spell(const std::string& token, std::string* bytes) const;
};

/// Returns the tokens (bytes, id) that a word table can look up: all that fit it with `whole_words`, else those that
/// merging produces from their own bytes.
TrieKeys bpe_words(const TrieKeys& tokens, const std::vector<text::MergeEntry>& entries, bool whole_words);

/// The tokens that are whole words, without their marks; all tokens unchanged if `traits` has no marks.
TrieKeys marked_words(const TrieKeys& tokens, uint32_t traits);

/// As bpe_words(), for tokens that begin with a space; the keys omit that space.
TrieKeys bpe_words_behind_blanks(const TrieKeys& tokens, const std::vector<text::MergeEntry>& entries,
                                 bool whole_words);

/// Converts byte tokens to keys of a trie: omits those that cannot occur in UTF-8, and replaces zero bytes by the label
/// that represents them.
TrieKeys trie_keys_of_bytes(const TrieKeys& tokens);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_BPE_TABLES_H_
