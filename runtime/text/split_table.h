// A regular expression that splits texts into words, as tables: blob `split` of a tokenizer whose splitter is `pattern`.
//
//   u32 version, 1 or 2
//   u32 stride    entries of a state, 2 to 128: entry 0 is for the end of the text, the others for classes of code points
//   u32 states    number 0 is the end of the search, number 1 its beginning
//   u32 blocks    1 to 256
//   u8  ascii[128]             classes of the code points below 0x80
//   u8  top[4352]              number of the block for each 256 code points
//   u8  block[blocks][256]     classes of their code points
//   u16 next[states][stride]   4-byte aligned: number of the next state times stride; bit 15: a match ends before this
// Version 2, 4-byte aligned:
//   u32 dropped   words whose first code point is of this class or a later one are left out of the text
//   u32 more      1: a further such table follows, which splits the words of this one; at most 4 tables in all
//
// From the beginning of a word, code points are followed until state 0. The word ends where a match ended last; it has at
// least one code point, whatever the tables say. What a search reads behind its last match is read again for the next word;
// pattern_splitter.cpp bounds that for a text, so that the time grows with the text whatever the tables hold.
#ifndef BANTAM_TEXT_SPLIT_TABLE_H_
#define BANTAM_TEXT_SPLIT_TABLE_H_

#include <stdint.h>

#include "linked.h"
#include "text/check.h"

namespace bantam::text {

constexpr uint32_t kSplitVersion = 1;
constexpr uint32_t kSplitPassVersion = 2;
constexpr uint32_t kMaxSplitPasses = 4;
constexpr uint32_t kSplitMatch = 1u << 15;
constexpr uint32_t kSplitTop = 0x110000 >> 8;
constexpr uint32_t kSplitAscii = 128;
constexpr uint32_t kMaxSplitStride = 128;
constexpr uint32_t kMaxSplitStates = 128;
constexpr uint32_t kMaxSplitEntries = 1u << 15;  // states times stride

struct SplitHeader {
  uint32_t version;
  uint32_t stride;
  uint32_t states;
  uint32_t blocks;
};

/// What version 2 has behind its entries.
struct SplitPass {
  uint32_t dropped;
  uint32_t more;
};

/// Where the entries of states begin, for at most 256 blocks.
constexpr uint32_t split_next_offset(uint32_t blocks) {
  return static_cast<uint32_t>(sizeof(SplitHeader)) + kSplitAscii + kSplitTop + blocks * 256;
}

/// Where what follows the entries begins.
constexpr uint32_t split_pass_offset(uint32_t blocks, uint32_t entries) {
  return (split_next_offset(blocks) + 2 * entries + 3) / 4 * 4;
}

/// View of such a table.
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
};

/// What stands behind the entries of a verified table of version 2; the next table, if there is one, follows it.
inline const SplitPass& split_pass(const uint8_t* table) {
  const auto& header = *reinterpret_cast<const SplitHeader*>(table);
  return *reinterpret_cast<const SplitPass*>(table + split_pass_offset(header.blocks, header.states * header.stride));
}

/// A blob of check.tokenizer that holds at most `most` such tables. One pass over it.
Status verify_split(Check& check, fb::BlobName name, uint32_t most);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_SPLIT_TABLE_H_
