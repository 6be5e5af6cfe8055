// Words and n-grams identified by their hashes, as in fastText's supervised models (Joulin et al., arXiv 1607.01759;
// character n-grams: Bojanowski et al., arXiv 1607.04606).
//
// A word yields its token, if it has one, and the n-grams of its code points between '<' and '>'; word n-grams are
// added. The hash of character n-grams is 32-bit FNV-1a over their bytes, taken as signed: those from 0x80 on also
// change the upper 24 bits. The hash of words w_i ... w_j is 64-bit: h = h * 116049371 + hash(w_k), where hash(w_k) is
// again signed.
#ifndef BANTAM_TEXT_HASHED_H_
#define BANTAM_TEXT_HASHED_H_

#include <stdint.h>

#include "text/check.h"
#include "text/tables.h"
#include "text/token_sink.h"

namespace bantam::text {

/// The most code points, and the most words, of an n-gram.
constexpr uint32_t kMaxCharGram = 64;
constexpr uint32_t kMaxWordGram = 16;

/// FNV-1a over signed bytes.
constexpr uint32_t kHashStart = 2166136261u;
inline uint32_t hash_byte(uint32_t hash, uint8_t byte) {
  return (hash ^ (static_cast<uint32_t>(byte) | (byte >= 0x80 ? 0xFFFFFF00u : 0u))) * 16777619u;
}
inline uint32_t hash_bytes(const uint8_t* bytes, uint32_t size) {
  uint32_t hash = kHashStart;
  for (uint32_t i = 0; i < size; ++i) hash = hash_byte(hash, bytes[i]);
  return hash;
}

struct Hashed {
  /// Verifies TokenModel's fields, and the blob `buckets`.
  static Status verify(Check& check, const LexiconRoots& roots);

  /// Emits the token of the word bytes[0, size), then its n-grams, ordered by beginning, then by length. Returns true.
  /// O(size * max_gram).
  template <typename Locate>
  static bool encode_word(const Tables& tables, const uint8_t* bytes, uint32_t size, Locate&& locate, TokenSink* sink) {
    const Match whole = tables.lexicon.longest_of_bytes(bytes, size);
    if (whole.size == size) {
      const Offset where = locate(0, size);
      sink->emit(whole.value, where.begin, where.end);
    }
    const fb::TokenModel& model = *tables.source->model();
    if (model.max_gram() != 0 && model.buckets() != 0) encode_grams(tables, model, bytes, size, locate, sink);
    return true;
  }

  /// Emits the n-gram with this hash, if it exists.
  static void emit_gram(const Tables& tables, uint64_t hash, Offset where, TokenSink* sink) {
    const auto bucket = static_cast<uint32_t>(hash % tables.source->model()->buckets());
    const int64_t place = tables.buckets == nullptr ? int64_t{bucket} : place_of(tables, bucket);
    if (place >= 0) sink->emit(tables.source->vocab_size() + static_cast<uint32_t>(place), where.begin, where.end);
  }

  /// Returns the token unchanged.
  static TokenText decode(const fb::Tokenizer& /*tokenizer*/, Text token) { return {token, false}; }

 private:
  /// Position of `bucket` in the blob `buckets`; -1: it is absent.
  static int64_t place_of(const Tables& tables, uint32_t bucket);

  /// Byte number `at` of '<' word '>'.
  static uint8_t marked(const uint8_t* bytes, uint32_t size, uint32_t at) {
    return at == 0 ? '<' : at <= size ? bytes[at - 1] : '>';
  }
  static bool goes_on(const uint8_t* bytes, uint32_t size, uint32_t at) {
    return at < size + 2 && (marked(bytes, size, at) & 0xC0) == 0x80;
  }

  template <typename Locate>
  static void encode_grams(const Tables& tables, const fb::TokenModel& model, const uint8_t* bytes, uint32_t size,
                           Locate&& locate, TokenSink* sink) {
    const uint32_t end = size + 2;
    for (uint32_t begin = 0; begin < end && !sink->is_full(); ++begin) {
      if (goes_on(bytes, size, begin)) continue;
      uint32_t hash = kHashStart;
      uint32_t at = begin;
      for (uint32_t n = 1; n <= model.max_gram() && at < end; ++n) {
        do hash = hash_byte(hash, marked(bytes, size, at++));
        while (goes_on(bytes, size, at));
        // '<' and '>' alone carry no information about a word.
        if (n < model.min_gram() || (n == 1 && (begin == 0 || at == end))) continue;
        const uint32_t from = begin == 0 ? 0 : begin - 1;
        const uint32_t to = at - 1 < size ? at - 1 : size;
        emit_gram(tables, hash, locate(from, to - from), sink);
      }
    }
  }
};

/// Word n-grams, computed as words arrive.
class WordGrams {
 public:
  WordGrams(const Tables& tables, TokenSink* sink) : tables_(tables), sink_(sink) {
    const fb::TokenModel& model = *tables.source->model();
    most_ = model.buckets() == 0 || model.word_grams() < 2 ? 0 : model.word_grams() - 1;
  }

  bool are_there() const { return most_ != 0; }

  /// Emits the n-grams that end with the word with this hash, longest first.
  void add(uint32_t hash, Offset where) {
    const auto word = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(hash)));
    for (uint32_t i = 0; i < count_; ++i) {
      open_[i].hash = open_[i].hash * 116049371u + word;
      Hashed::emit_gram(tables_, open_[i].hash, {open_[i].begin, where.end}, sink_);
    }
    const uint32_t gone = count_ == most_ ? 1 : 0;
    for (uint32_t i = gone; i < count_; ++i) open_[i - gone] = open_[i];
    count_ += 1 - gone;
    open_[count_ - 1] = {word, where.begin};
  }

 private:
  /// The words from `begin` on.
  struct Open {
    uint64_t hash;
    uint32_t begin;
  };

  const Tables& tables_;
  TokenSink* sink_;
  uint32_t most_;
  uint32_t count_ = 0;
  Open open_[kMaxWordGram];
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_HASHED_H_
