// The vocabulary's lookup table: a double array over bytes, read in place.
//
// Blob `trie`: little-endian u32 units, a multiple of 256 of them. The child of a node with base b for byte
// c is unit b ^ c, if that unit's label is c. No two nodes share a base, so the label alone proves the
// parent. A unit is
//   node    bits 0-7 label (1..254), bit 8: a token ends here, its value unit is b ^ 0; bits 10-31: b
//   leaf    bits 0-7 label, bit 9 set; bits 10-31: token id; the rest of the token is in token_text
//   value   bits 0-7 255; bits 8-31: token id (for roots of added tokens: index into added_tokens)
//   free    0xFFFFFFFF
// so that a token costs little more than its branching points: about 8 bytes. Bytes 0 and 255 never match;
// the first ends a walk at a terminating zero, neither occurs in a token.
//
// Blob `roots`: LexiconRoots. The continuation root is the node that the continuing prefix ("##") reaches from the
// vocabulary's root, which matches Hugging Face's semantics for every vocabulary.
#ifndef BANTAM_TEXT_LEXICON_H_
#define BANTAM_TEXT_LEXICON_H_

#include <stdint.h>

namespace bantam::text {

/// Id that means "no token".
constexpr uint32_t kNoToken = 0xFFFFFFFF;

constexpr uint32_t kUnitAccept = 1u << 8;
constexpr uint32_t kUnitLeaf = 1u << 9;
constexpr uint32_t kUnitBaseShift = 10;
constexpr uint32_t kUnitValueLabel = 255;
constexpr uint32_t kUnitValueShift = 8;
constexpr uint32_t kUnitFree = 0xFFFFFFFF;
/// Label of byte 0 in tokens that are bytes (BPE).
constexpr uint32_t kZeroLabel = 254;
/// The most ids that a leaf can represent.
constexpr uint32_t kMaxVocabulary = 1u << 22;
/// The most bytes of an added token: this bounds the comparisons per byte of a text.
constexpr uint32_t kMaxAddedBytes = 512;

/// Blob `roots`.
struct LexiconRoots {
  uint32_t version;        // 2
  uint32_t vocabulary;     // base of the root
  uint32_t continuation;   // base; leads nowhere if no token has the prefix
  uint32_t prefix_size;    // bytes of the continuing prefix
  uint32_t added[2];       // bases of the added tokens matched in raw [0] and in normalized [1] text
  uint32_t longest[2];     // bytes of the longest of these, at most kMaxAddedBytes; 0: there are none
  uint32_t only_first[2];  // the byte with which all of these begin, or 256
  uint32_t first[2][8];    // a bit for each byte with which one of these begins
};

constexpr uint32_t kLexiconVersion = 2;

struct Match {
  uint32_t value;
  uint32_t size;  // bytes matched; 0: none
};

/// View of the tables. After verify_tokenizer no walk leaves them, whatever they contain.
struct Lexicon {
  const uint32_t* units = nullptr;
  const uint32_t* begin = nullptr;  // vocab_size + 1 offsets into text
  const uint8_t* text = nullptr;
  const LexiconRoots* roots = nullptr;
  uint32_t vocab_size = 0;

  /// Returns the longest token that is a prefix of bytes[0, size), walking from base `root`; `depth` bytes of the token
  /// precede `bytes` (the prefix of a continuation). bytes[size] must be 0.
  Match longest(uint32_t root, uint32_t depth, const uint8_t* bytes, uint32_t size) const {
    Match best = {0, 0};
    uint32_t base = root;
    uint32_t accepted = 0;
    uint32_t at = 0;
    while (true) {
      const uint32_t c = bytes[at];
      const uint32_t unit = units[base ^ c];
      if ((unit & 0xFF) != c) break;
      ++at;
      base = unit >> kUnitBaseShift;
      if ((unit & kUnitLeaf) != 0) {
        if (const uint32_t end = tail(base, depth + at, bytes + at, size - at); end != kNoTail) {
          return {base, at + end};
        }
        break;
      }
      if ((unit & kUnitAccept) != 0) {
        accepted = base;
        best.size = at;
      }
    }
    if (best.size != 0) best.value = units[accepted] >> kUnitValueShift;
    return best;
  }

  /// The same for tokens of arbitrary bytes, where `trie` represents 0 as kZeroLabel: the longest token that is a
  /// prefix of bytes[0, size), which need not end with a zero. Bytes from kZeroLabel on, which do not occur in UTF-8,
  /// match nothing.
  Match longest_of_bytes(const uint8_t* bytes, uint32_t size) const {
    Match best = {0, 0};
    uint32_t base = roots->vocabulary;
    uint32_t accepted = 0;
    for (uint32_t at = 0; at < size;) {
      const uint32_t c = bytes[at] == 0 ? kZeroLabel : bytes[at];
      const uint32_t unit = units[base ^ c];
      if ((unit & 0xFF) != c || bytes[at] >= kZeroLabel) break;
      ++at;
      base = unit >> kUnitBaseShift;
      if ((unit & kUnitLeaf) != 0) {
        if (const uint32_t end = tail(base, at, bytes + at, size - at); end != kNoTail) return {base, at + end};
        break;
      }
      if ((unit & kUnitAccept) != 0) {
        accepted = base;
        best.size = at;
      }
    }
    if (best.size != 0) best.value = value(accepted);
    return best;
  }

  /// Calls visit(token, size) for each token that is a prefix of bytes[0, size), shortest first, in a `trie` that
  /// represents 0 as kZeroLabel.
  template <typename Visit>
  void each_prefix(const uint8_t* bytes, uint32_t size, Visit&& visit) const {
    uint32_t base = roots->vocabulary;
    for (uint32_t at = 0; at < size;) {
      const uint32_t c = bytes[at] == 0 ? kZeroLabel : bytes[at];
      const uint32_t unit = units[base ^ c];
      if ((unit & 0xFF) != c || bytes[at] >= kZeroLabel) return;
      ++at;
      base = unit >> kUnitBaseShift;
      if ((unit & kUnitLeaf) != 0) {
        if (const uint32_t end = tail(base, at, bytes + at, size - at); end != kNoTail) visit(base, at + end);
        return;
      }
      if ((unit & kUnitAccept) != 0) visit(value(base), at);
    }
  }

  /// Takes one step from a node's base along byte c; returns false if there is no such child. Leaves are only for walks
  /// of the vocabulary and lead nowhere here.
  bool step(uint32_t* base, bool* accepts, uint32_t c) const {
    if (c == 0 || c == kUnitValueLabel) return false;
    const uint32_t unit = units[*base ^ c];
    if ((unit & 0xFF) != c || (unit & kUnitLeaf) != 0) return false;
    *base = unit >> kUnitBaseShift;
    *accepts = (unit & kUnitAccept) != 0;
    return true;
  }

  uint32_t value(uint32_t base) const { return units[base] >> kUnitValueShift; }

  /// Id of exactly this vocabulary entry; -1: none. O(size).
  int32_t find(const uint8_t* bytes, uint32_t size) const;

 private:
  static constexpr uint32_t kNoTail = 0xFFFFFFFF;

  /// Returns the number of bytes of token `id` after its first `depth`, if they are a prefix of bytes[0, size).
  uint32_t tail(uint32_t id, uint32_t depth, const uint8_t* bytes, uint32_t size) const {
    const uint32_t length = begin[id + 1] - begin[id];
    if (length < depth || length - depth > size) return kNoTail;
    const uint8_t* rest = text + begin[id] + depth;
    for (uint32_t i = 0; i < length - depth; ++i) {
      if (rest[i] != bytes[i]) return kNoTail;
    }
    return length - depth;
  }
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_LEXICON_H_
