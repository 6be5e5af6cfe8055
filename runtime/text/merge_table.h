// How the tokens of byte pair encoding are made of each other: blobs `merges` and `pairs`.
//
// Blob `merges`: a MergeEntry for each id. Blob `pairs`: u32 bits, at most 24; then 2^bits + kMaxPairProbes u32 slots. Two
// tokens' hash names a slot; from there on, at most kMaxPairProbes slots are looked at. A slot is
//   bits 0-21 the token that two make; bits 22-31: bits of the two tokens' hash; or 0xFFFFFFFF: the search ends here
//
// The table holds one way to make a token of two: the last merge when the token's own bytes are encoded. No other way
// can occur: tokens within these bytes that were not merged with others outside are the same as when the bytes stand
// alone.
#ifndef BANTAM_TEXT_MERGE_TABLE_H_
#define BANTAM_TEXT_MERGE_TABLE_H_

#include <stdint.h>

#include "text/lexicon.h"

namespace bantam::text {

/// The value for the token before one that follows unknown text: nothing can be merged with it, but the token does not
/// begin a word.
constexpr uint32_t kUnknownBefore = 0xFFFFFFFE;
constexpr uint32_t kNeverMade = 0xFFFFFFFF;

/// A token of one byte has no parts and rank 0. A token that is never made has no parts and rank kNeverMade: the merges
/// turn its bytes into other tokens.
struct MergeEntry {
  uint32_t left;  // the two that it is made of, or kNoToken
  uint32_t right;
  uint32_t rank;     // the lower, the earlier; more than those of its parts
  uint32_t shorter;  // the longest token that it begins with, itself excepted, or kNoToken
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

  /// Returns the token that the two become, or kNoToken.
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

  /// Returns true if two tokens, each made from its own bytes, stay as they are side by side. Undoes merges one by one,
  /// the last first, so far as they lie beside the place where the two meet: if the tokens that meet there could be
  /// merged before the merge just undone, the encoding would have done that. Subtracts its look-ups from *budget; true
  /// when none are left.
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
        limit = r.rank + 1;  // of equal merges, the one to the left is done first
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
