// Byte pair encoding, exact and in linear time: instead of merging, the tokens that merging would leave are looked for.
//
// Tokens in a row are what merging makes of their bytes if, and only if, each is what merging makes of its own bytes and
// every two neighbours stay as they are side by side (MergeTable::stay_apart). So a word is cut, from the left, into the
// longest tokens that get on with the one before; where none does, the token before was wrong and a shorter one takes its
// place. The tokens up to a place are known once they fit each other, so no place is tried twice.
//
// A word of more than kBpeWindow bytes is cut a window at a time, of which the first half is kept: the end of a window,
// which stands there as the end of a word, would have to matter over half a window. Should tables be made so that a window
// cannot be cut with a bounded number of looks, it is cut into the longest tokens, whatever merging would leave.
//
// All that holds for merges in an order in which the parts of a token are made before it, as training finds them. Other tables
// (kAnyOrder) are merged by the definition (bpe_merging.h).
//
// Where tokens say that a word ends with them ("low</w>"), or that they continue one ("##er"), marks are among the
// bytes of words and of tokens (kEndMark, kBeginMark); a unit beside a mark is another symbol before merging.
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

/// Bytes of text that are looked at together; most bytes of a token.
constexpr uint32_t kBpeWindow = kSmall ? 256 : 1024;
constexpr uint32_t kMaxBpeToken = kBpeWindow / 2;

/// The tokens of a window: ids and where each ends.
struct BpeCut {
  uint32_t count;
  uint32_t ids[kBpeWindow];
  uint16_t ends[kBpeWindow];
};

struct Bpe {
  /// The merges, the pairs and the table of words.
  static Status verify(Check& check, const LexiconRoots& roots);

  /// Cuts bytes[0, size), 1 to kBpeWindow of them, that follow the token `before` (kNoToken: begin a word). O(size).
  static void cut(const Tables& tables, uint32_t before, const uint8_t* bytes, uint32_t size, BpeCut* out);

  /// Emits tokens of the next bytes[0, size) of a word: all if it ends there, else those in the first half of the window,
  /// which is then full. `locate(at, size)` gives the offsets of the part bytes[at, at + size). *before is the token
  /// before, at first kNoToken. Returns how many bytes were encoded; bytes that are no tokens are left out.
  /// With marks, `size` counts those of the word's beginning and end.
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

  /// A whole word.
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

  /// Emits a word of word-level tables that is the token `id`; kNoToken: it is unknown, or left out (kSkipUnknown).
  static void emit_whole(const Tables& tables, uint32_t id, Offset where, TokenSink* sink) {
    if (id != kNoToken) return emit_known(tables, id, where, sink);
    if ((tables.traits & kSkipUnknown) != 0) return;
    sink->emit(static_cast<uint32_t>(tables.unknown_id), where.begin, where.end);
  }

  /// Returns the token without the blank that begins it; a token without a blank continues the word before.
  static TokenText decode(const fb::Tokenizer& tokenizer, Text token);

  /// Returns the bytes of the unit at bytes[at, size), the smallest part of a word before merging: a byte or a code
  /// point, with the marks beside it. More than size - at if `size` cuts the unit.
  static uint32_t unit_size(const Tables& tables, const uint8_t* bytes, uint32_t at, uint32_t size);

 private:
  /// Returns the bytes of the units up to the first that is no token, or that `size` cuts; *unknown: it is the former.
  static uint32_t known_size(const Tables& tables, const uint8_t* bytes, uint32_t size, bool ends, bool* unknown);

  /// Does as encode_part for words whose units may be no tokens: emits the tokens up to a unit that is none, or emits
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
