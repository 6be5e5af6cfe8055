// Lookup tables of a WordPiece vocabulary, in the format of runtime/text/lexicon.h.
#ifndef BANTAM_CONVERTER_TOKENIZER_TOKENIZER_TABLES_H_
#define BANTAM_CONVERTER_TOKENIZER_TOKENIZER_TABLES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/lexicon.h"
#include "text/normalizer.h"

namespace bantam::convert {

using TrieKeys = std::vector<std::pair<std::string, uint32_t>>;

struct Trie {
  std::vector<uint32_t> units;
  text::LexiconRoots roots{};
};

/// Builds the double array of `vocabulary` (token, id), of `raw` and of `normalized` (added token's text,
/// index). Keys are unique within each list, not empty and hold neither byte 0 nor 255; values are below
/// 2^22. Deterministic. `ok` is false when the units would not fit 22 bits.
Trie build_trie(TrieKeys vocabulary, TrieKeys raw, TrieKeys normalized, std::string_view prefix, bool* ok);

/// Returns the bytes of runtime/text/word_table.h for `words` (1 to kMaxTableWord bytes without zeros, id); empty if
/// there are no words. Deterministic.
std::vector<uint8_t> build_word_table(const TrieKeys& words);
/// As above, for the words of a WordPiece vocabulary (token, id) that the runtime looks up. `lowercase`: it does not
/// look up words with upper-case letters.
std::vector<uint8_t> build_word_table(const TrieKeys& vocabulary, bool lowercase);

/// Returns the bytes of runtime/text/char_map.h for a tokenizer with these rules and a vocabulary with these tokens.
/// Null `tokens` includes all mappings, which added tokens that are matched in normalized text require. Deterministic.
std::vector<uint8_t> build_char_map(text::Normalization rules, const std::vector<std::string>* tokens);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_TOKENIZER_TABLES_H_
