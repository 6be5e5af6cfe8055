#include "text/tables.h"

namespace bantam {

struct TokenizerAccess {
  static Tokenizer make(const fb::Tokenizer& tokenizer, const uint8_t* data) {
    Tokenizer result;
    result.table_ = &tokenizer;
    result.data_ = data;
    return result;
  }
};

}  // namespace bantam

namespace bantam::text {

Tables::Tables(const fb::Tokenizer& tokenizer, const uint8_t* data)
    : source(&tokenizer),
      max_word_chars(tokenizer.max_word_chars()),
      unknown_id(tokenizer.unknown_id()),
      added(tokenizer.added_tokens()) {
  lexicon.units = reinterpret_cast<const uint32_t*>(data + tokenizer.trie()->offset());
  lexicon.begin = reinterpret_cast<const uint32_t*>(data + tokenizer.token_begin()->offset());
  lexicon.text = data + tokenizer.token_text()->offset();
  lexicon.roots = reinterpret_cast<const LexiconRoots*>(data + tokenizer.trie_aux()->offset());
  lexicon.vocab_size = tokenizer.vocab_size();
  rules.clean_text = tokenizer.clean_text();
  rules.split_chinese = tokenizer.split_chinese();
  rules.lowercase = tokenizer.lowercase();
  rules.strip_accents = tokenizer.strip_accents();
  if (kSmall && (rules.lowercase || rules.strip_accents)) {
    rules.map.begin = data + tokenizer.charsmap()->offset() + 1;
    rules.map.end = rules.map.begin + tokenizer.charsmap()->size() - 1;
  }
  if constexpr (!kSmall) {  // for the fast path
    table_chars = max_word_chars < kMaxTableWord ? max_word_chars : kMaxTableWord;
    if (rules.lowercase) ascii_fold = 0x2020202020202020u;
    if (tokenizer.trie_aux()->size() > sizeof(LexiconRoots)) words = WordTable(data + tokenizer.trie_aux()->offset());
  }
}

Tokenizer open_tables(const fb::Tokenizer& tokenizer, const uint8_t* data) {
  return TokenizerAccess::make(tokenizer, data);
}

}  // namespace bantam::text
