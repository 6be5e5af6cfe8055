// How the tokens of byte pair encoding are made of each other: blobs `merges` and `pairs`.
//
// Blob `merges`: a MergeEntry for each id. Blob `pairs`: u32 bits, at most 24; then 2^bits + kMaxPairProbes u32 slots. Two
// tokens' hash names a slot; from there on, at most kMaxPairProbes slots are looked at. A slot is
//   bits 0-21 the token that two make; bits 22-31: bits of the two tokens' hash; or 0xFFFFFFFF: the search ends here
//
// A token is here made of two in one way: the last merge when the token's own bytes are encoded. Another way cannot come to
// pass: tokens within these bytes that were not merged with others outside became what they become alone.
#ifndef BANTAM_TEXT_MERGE_TABLE_H_
#define BANTAM_TEXT_MERGE_TABLE_H_

#include <stdint.h>

#include "text/lexicon.h"

namespace bantam::text {

/// What stands before a token that follows what is unknown: nothing that it could be merged with, but it begins no word.
constexpr uint32_t kUnknownBefore = 0xFFFFFFFE;
constexpr uint32_t kNeverMade = 0xFFFFFFFF;

/// One byte: no parts, rank 0. Never made: no parts, rank kNeverMade; what the merges make of its bytes are other tokens.
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

  /// What the two become, or kNoToken.
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

  /// Whether two tokens that are made each from its own bytes stay as they are side by side. Merges are undone one by one,
  /// the last first, so far as they lie beside the place where the two meet: if what meets there could be merged before the
  /// merge just undone, the encoding would have done that. Takes from *budget what it looks up; true when that is used up.
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
