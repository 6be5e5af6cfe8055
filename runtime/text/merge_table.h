// How the tokens of byte pair encoding are made from each other: blobs `merges` and `pairs`.
//
// Blob `merges`: a MergeEntry for each id. Blob `pairs`: u32 bits, at most 24; then 2^bits + kMaxPairProbes u32 slots.
// The hash of two tokens selects a slot; from there on, at most kMaxPairProbes slots are probed. A slot is
//   bits 0-21 the token made from the two; bits 22-31: bits of their hash; or 0xFFFFFFFF: the search ends here
//
// The table has one pair for each token: the last merge when the token's own bytes are encoded. No other pair can
// occur: tokens within these bytes that were not merged with tokens outside are the same as if the bytes stood alone.
#ifndef BANTAM_TEXT_MERGE_TABLE_H_
#define BANTAM_TEXT_MERGE_TABLE_H_

#include <stdint.h>

#include "text/lexicon.h"

namespace bantam::text {

/// Stands for the preceding token if that is unknown text: nothing can be merged with it, but the next token does not
/// begin a word.
constexpr uint32_t kUnknownBefore = 0xFFFFFFFE;
constexpr uint32_t kNeverMade = 0xFFFFFFFF;

/// A token of one byte has no parts and rank 0. A token that is never made has no parts and rank kNeverMade: the merges
/// turn its bytes into other tokens.
struct MergeEntry {
  uint32_t left;  // the two parts, or kNoToken
  uint32_t right;
  uint32_t rank;     // the order of merges; greater than the ranks of its parts
  uint32_t shorter;  // the longest proper prefix that is a token, or kNoToken
};

constexpr uint32_t kMaxPairBits = 24;
constexpr uint32_t kMaxPairProbes = 32;
constexpr uint32_t kPairIdBits = 22;
constexpr uint32_t kPairIdMask = (1u << kPairIdBits) - 1;
constexpr uint32_t kNoPair = 0xFFFFFFFF;

inline uint64_t hash_pair(uint32_t left, uint32_t right) {
  const uint64_t key = (uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15u;
  return (key ^ key >> 29) * 0xBF58476D1CE4E5B9u;
}

/// View of verified blobs.
struct MergeTable {
  const MergeEntry* entries = nullptr;
  const uint32_t* slots = nullptr;
  uint32_t bits = 0;
  uint32_t vocab_size = 0;

  static uint32_t home_of(uint64_t hash, uint32_t bits) { return static_cast<uint32_t>((hash >> 32) >> (32 - bits)); }
  static uint32_t mark_of(uint64_t hash) { return static_cast<uint32_t>(hash & 0x3FF) << kPairIdBits; }

  /// Returns the token that the two merge to, or kNoToken.
  uint32_t find(uint32_t left, uint32_t right) const {
    const uint64_t hash = hash_pair(left, right);
    const uint32_t* slot = slots + home_of(hash, bits);
    for (uint32_t i = 0; i < kMaxPairProbes && slot[i] != kNoPair; ++i) {
      const uint32_t id = slot[i] & kPairIdMask;
      if ((slot[i] & ~kPairIdMask) != mark_of(hash) || id >= vocab_size) continue;
      if (entries[id].left == left && entries[id].right == right) return id;
    }
    return kNoToken;
  }

  /// Returns true if two tokens, each the result of merging its own bytes, stay separate when adjacent. Undoes merges
  /// one by one, the last first, as far as they touch the boundary of the two: if the tokens at the boundary could have
  /// been merged before the merge just undone, the encoding would have merged them. Subtracts its look-ups from
  /// *budget; returns true if none are left.
  bool stay_apart(uint32_t left, uint32_t right, uint32_t* budget) const {
    for (uint32_t limit = kNeverMade; *budget > 0; --*budget) {
      const uint32_t merged = find(left, right);
      if (merged != kNoToken && entries[merged].rank < limit) return false;
      const MergeEntry& l = entries[left];
      const MergeEntry& r = entries[right];
      if (l.rank > r.rank) {
        limit = l.rank;
        left = l.right;
      } else if (r.rank > 0) {
        limit = r.rank + 1;  // for equal ranks, the left merge is made first
        right = r.left;
      } else {
        return true;
      }
    }
    return true;
  }
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_MERGE_TABLE_H_
