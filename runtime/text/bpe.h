// Byte pair encoding, exact and in linear time: instead of merging, it searches for the tokens that merging would
// yield.
//
// A sequence of tokens is the result of merging its bytes if and only if each token is the result of merging its own
// bytes and every two adjacent tokens stay apart (MergeTable::stay_apart). So a word is cut, from the left, into the
// longest tokens that are compatible with the preceding one; if none is, the preceding token is replaced by a shorter
// one. Tokens up to a position are final once they are compatible, so no position is tried twice.
//
// A word of more than kBpeWindow bytes is cut one window at a time, and the first half of each result is kept: the end
// of a window is treated as the end of the word, which would have to affect more than half a window to matter. If a
// file's tables make it impossible to cut a window with a bounded number of look-ups, it is cut into the longest
// tokens, whatever merging would yield.
//
// All of this requires merges ordered so that the parts of a token are made before it, as training produces them. Other
// tables (kAnyOrder) are merged by definition (bpe_merging.h).
//
// If tokens mark that a word ends with them ("low</w>") or that they continue one ("##er"), marks are part of the bytes
// of words and tokens (kEndMark, kBeginMark); before merging, a unit next to a mark is a symbol of its own.
#ifndef BANTAM_TEXT_BPE_H_
#define BANTAM_TEXT_BPE_H_

#include <stdint.h>

#include "text/blank_trim.h"
#include "text/byte_tokens.h"
#include "text/check.h"
#include "text/tables.h"
#include "text/token_sink.h"
#include "text/utf8.h"

namespace bantam::text {

/// Bytes of text that are processed together; a token has at most half as many.
constexpr uint32_t kBpeWindow = kSmall ? 256 : 1024;
constexpr uint32_t kMaxBpeToken = kBpeWindow / 2;

/// The tokens of a window: their ids and ends.
struct BpeCut {
  uint32_t count;
  uint32_t ids[kBpeWindow];
  uint16_t ends[kBpeWindow];
};

struct Bpe {
  /// Verifies the merges, the pairs and the table of words.
  static Status verify(Check& check, const LexiconRoots& roots);

  /// Cuts bytes[0, size), 1 to kBpeWindow of them, that follow the token `before` (kNoToken: the beginning of a word).
  /// O(size).
  static void cut(const Tables& tables, uint32_t before, const uint8_t* bytes, uint32_t size, BpeCut* out);

  /// Emits tokens of the next bytes[0, size) of a word: all if the word ends there, else those in the first half of the
  /// window, which is then full. `locate(at, size)` returns the offsets of bytes[at, at + size). *before is the
  /// preceding token, initially kNoToken. Returns the number of bytes encoded; bytes without tokens are skipped. With
  /// marks, `size` includes those of the word's beginning and end.
  template <typename Locate>
  static uint32_t encode_part(const Tables& tables, uint32_t* before, const uint8_t* bytes, uint32_t size, bool ends,
                              Locate&& locate, TokenSink* sink) {
    if (ends && *before == kNoToken && tables.whole_words) {
      const Match whole = tables.lexicon.longest_of_bytes(bytes, size);
      if (whole.size == size) {
        emit_known(tables, whole.value, locate(0, size), sink);
        return size;
      }
    }
    if (linked::kBpeWithUnknown && (tables.traits & (kCodePoints | kSomeBytes)) != 0) {
      return encode_units(tables, before, bytes, size, ends, locate, sink);
    }
    return encode_known(tables, before, bytes, size, ends, locate, sink);
  }

  /// Encodes a whole word.
  template <typename Locate>
  static bool encode_word(const Tables& tables, const uint8_t* bytes, uint32_t size, Locate&& locate, TokenSink* sink) {
    if (is_word_level(tables)) {
      const Match whole = tables.lexicon.longest_of_bytes(bytes, size);
      emit_whole(tables, whole.size == size ? whole.value : kNoToken, locate(0, size), sink);
      return true;
    }
    uint32_t before = kNoToken;
    for (uint32_t at = 0; at < size && !sink->is_full();) {
      const bool ends = size - at <= kBpeWindow;
      const auto part = [&](uint32_t begin, uint32_t length) { return locate(at + begin, length); };
      at += encode_part(tables, &before, bytes + at, ends ? size - at : kBpeWindow, ends, part, sink);
    }
    return true;
  }

  static bool is_word_level(const Tables& tables) { return linked::kWordLevel && (tables.traits & kWordLevel) != 0; }

  /// Emits a word of word-level tables: the token `id`; for kNoToken the unknown token, or nothing (kSkipUnknown).
  static void emit_whole(const Tables& tables, uint32_t id, Offset where, TokenSink* sink) {
    if (id != kNoToken) return emit_known(tables, id, where, sink);
    if ((tables.traits & kSkipUnknown) != 0) return;
    sink->emit(static_cast<uint32_t>(tables.unknown_id), where.begin, where.end);
  }

  /// Returns the token without its leading blank; a token without one continues the preceding word.
  static TokenText decode(const fb::Tokenizer& tokenizer, Text token);

  /// Returns the size of the unit at bytes[at, size), the smallest part of a word before merging: a byte or a code
  /// point, with adjacent marks. More than size - at if `size` cuts the unit.
  static uint32_t unit_size(const Tables& tables, const uint8_t* bytes, uint32_t at, uint32_t size);

 private:
  /// Returns the bytes of the units before the first one that has no token or that `size` cuts; *unknown: it has no
  /// token.
  static uint32_t known_size(const Tables& tables, const uint8_t* bytes, uint32_t size, bool ends, bool* unknown);

  /// Does the same as encode_part for words whose units may lack tokens: emits the tokens up to such a unit, or emits
  /// that unit as unknown.
  template <typename Locate>
  static uint32_t encode_units(const Tables& tables, uint32_t* before, const uint8_t* bytes, uint32_t size, bool ends,
                               Locate&& locate, TokenSink* sink) {
    bool unknown = false;
    const uint32_t known = known_size(tables, bytes, size, ends, &unknown);
    const bool fuses = *before == kUnknownBefore && tables.of_byte == nullptr && (tables.traits & kFuseUnknown) != 0;
    if (known > 0) {
      if (*before == kUnknownBefore) *before = kNoToken;
      return encode_known(tables, before, bytes, known, ends || unknown, locate, sink);
    }
    const uint32_t unit = unit_size(tables, bytes, 0, size);
    const uint32_t taken = unit < size ? unit : size;
    const Offset where = locate(0, taken);
    if (fuses) {
      sink->set_end(sink->count - 1, where.end);
    } else {
      emit_unknown(tables, bytes, taken, where, EdgeBlanks(), sink);
    }
    *before = kUnknownBefore;
    return taken;
  }

  template <typename Locate>
  static uint32_t encode_known(const Tables& tables, uint32_t* before, const uint8_t* bytes, uint32_t size, bool ends,
                               Locate&& locate, TokenSink* sink) {
    BpeCut cut_here;
    cut(tables, *before, bytes, size, &cut_here);
    uint32_t at = 0;
    for (uint32_t i = 0; i < cut_here.count; ++i) {
      const uint32_t end = cut_here.ends[i];
      if (!ends && i > 0 && end > kBpeWindow / 2) return at;
      *before = cut_here.ids[i];
      if (*before != kNoToken) emit_known(tables, *before, locate(at, end - at), sink);
      at = end;
    }
    return at;
  }
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_BPE_H_
