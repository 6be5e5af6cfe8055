// A regular expression that splits texts into words, as tables: blob `split` of a tokenizer with splitter `pattern`.
//
//   u32 version, 1 to 4
//   u32 stride    entries of a state, 2 to 256: entry 0 is for the end of the text, the others for code point classes
//   u32 states    number of states; state 0 ends the search, state 1 begins it
//   u32 blocks    1 to 256
//   u8  ascii[128]             classes of the code points below 0x80
//   u8  top[4352]              number of the block for each 256 code points
//   u8  block[blocks][256]     classes of their code points
//   u16 next[states][stride]   4-byte aligned: number of the next state times stride; bit 15: a match ends before this
// From version 2 on, 4-byte aligned:
//   u32 dropped   words whose first code point has this class or a higher one are dropped from the text
//   u32 more      1: another such table follows, which splits the words of this one; at most 8 tables in total
// From version 3 on:
//   u8  ends[states]           bits 0-6: number of code points by which the word ends before the match that this state
//                              detects; bit 7: the word is dropped; padded to 4 bytes
// Only the last table but one may have version 4: before the last table splits its words, each of them is prefixed with
// a blank unless it begins with one.
//
// From the beginning of a word, code points are followed until state 0. The word ends at the last match; it has at
// least one code point, whatever the tables contain. Text read after the last match is read again for the next word;
// pattern_splitter.cpp bounds this, so that time is linear in the text whatever the tables contain.
#ifndef BANTAM_TEXT_SPLIT_TABLE_H_
#define BANTAM_TEXT_SPLIT_TABLE_H_

#include <stdint.h>

#include "language.h"
#include "linked.h"
#include "text/check.h"

namespace bantam::text {

constexpr uint32_t kSplitVersion = 1;
constexpr uint32_t kSplitPassVersion = 2;
constexpr uint32_t kSplitEndsVersion = 3;
constexpr uint32_t kSplitPrefixVersion = 4;
constexpr uint32_t kMaxSplitPasses = 8;
constexpr uint32_t kSplitMatch = 1u << 15;
constexpr uint32_t kSplitTop = 0x110000 >> 8;
constexpr uint32_t kSplitAscii = 128;
constexpr uint32_t kMaxSplitStride = 256;
constexpr uint32_t kMaxSplitStates = 256;
constexpr uint32_t kMaxSplitEntries = 1u << 15;  // states times stride
constexpr uint8_t kSplitLeftOut = 1u << 7;       // a bit of `ends`, besides the number of code points

struct SplitHeader {
  uint32_t version;
  uint32_t stride;
  uint32_t states;
  uint32_t blocks;
};

/// The fields that version 2 and later have after the entries.
struct SplitPass {
  uint32_t dropped;
  uint32_t more;
};

/// Offset of the states' entries, for at most 256 blocks.
constexpr uint32_t split_next_offset(uint32_t blocks) {
  return static_cast<uint32_t>(sizeof(SplitHeader)) + kSplitAscii + kSplitTop + blocks * 256;
}

/// Offset of the data after the entries.
constexpr uint32_t split_pass_offset(uint32_t blocks, uint32_t entries) {
  return (split_next_offset(blocks) + 2 * entries + 3) / 4 * 4;
}

/// Returns the fields after the entries of a verified table of version 2 or later; the next table, if any, follows
/// them.
inline const SplitPass& split_pass(const uint8_t* table) {
  const auto& header = *reinterpret_cast<const SplitHeader*>(table);
  return *reinterpret_cast<const SplitPass*>(table + split_pass_offset(header.blocks, header.states * header.stride));
}

/// Bytes of a table of version 2 or later.
constexpr uint32_t split_pass_size(const SplitHeader& header) {
  return split_pass_offset(header.blocks, header.states * header.stride) + static_cast<uint32_t>(sizeof(SplitPass)) +
         (header.version >= kSplitEndsVersion ? (header.states + 3) / 4 * 4 : 0);
}

/// View of a table of version 1.
struct SplitTable {
  const uint8_t* ascii = nullptr;
  const uint8_t* top = nullptr;
  const uint8_t* blocks = nullptr;
  const uint16_t* next = nullptr;
  uint32_t start = 0;

  SplitTable() = default;
  /// `table` is a verified blob.
  explicit SplitTable(const uint8_t* table) {
    const auto& header = *reinterpret_cast<const SplitHeader*>(table);
    ascii = table + sizeof(SplitHeader);
    top = ascii + kSplitAscii;
    blocks = top + kSplitTop;
    next = reinterpret_cast<const uint16_t*>(table + split_next_offset(header.blocks));
    start = header.stride;
  }

  uint32_t class_of(uint32_t code) const {
    return code < kSplitAscii ? ascii[code] : blocks[top[code >> 8] * 256u + (code & 255)];
  }

  /// The number of code points by which the word ends before the match that `state` (times stride) detected.
  static constexpr uint32_t back(uint32_t /*state*/) { return 0; }
};

/// View of a table of any version.
struct SplitPassTable : SplitTable {
  uint32_t dropped = kMaxSplitStride;
  const uint8_t* ends = nullptr;
  bool prefixes = false;  // its words are prefixed with a blank

  SplitPassTable() = default;
  /// `table` is a verified blob.
  explicit SplitPassTable(const uint8_t* table) : SplitTable(table) {
    const auto& header = *reinterpret_cast<const SplitHeader*>(table);
    if (header.version == kSplitVersion) return;
    const SplitPass& pass = split_pass(table);
    dropped = pass.dropped;
    if (linked::kSplitEnds && header.version >= kSplitEndsVersion) ends = reinterpret_cast<const uint8_t*>(&pass + 1);
    prefixes = linked::kSplitPrefix && header.version == kSplitPrefixVersion;
  }

  uint32_t back(uint32_t state) const { return ends == nullptr ? 0 : ends[state / start] & (kSplitLeftOut - 1u); }
  /// Returns true if a word that begins with class `lead`, and whose match `state` detected, is dropped.
  bool leaves_out(uint32_t lead, uint32_t state) const {
    return lead >= dropped || (linked::kSplitEnds && ends != nullptr && (ends[state / start] & kSplitLeftOut) != 0);
  }
};

/// The type of table for searches where tables may have any version.
using SearchedSplit = Choose<linked::kSplitEnds, SplitPassTable, SplitTable>;

/// Verifies a blob of check.tokenizer that contains at most `most` such tables, in one pass.
Status verify_split(Check& check, fb::BlobName name, uint32_t most);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_SPLIT_TABLE_H_
