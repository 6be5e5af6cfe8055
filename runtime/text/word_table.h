// The vocabulary's short words, each found in one step: optional blob `words` of a tokenizer.
//
//   u32 bucket_bits   2^bucket_bits buckets, at most 2^24
//   u32 home_count    homes of words, at least 1
//   u8  displacements[2^bucket_bits], then zeros to a multiple of 16 bytes from the beginning
//   WordSlot slots[home_count + 255]
//
// A word's hash selects a home and a bucket; the word is in slot home + displacement of the bucket. Displacements are
// chosen so that no two words share a slot; a word for which there was none is omitted. Words have at most
// kMaxTableWord bytes. wordpiece: only words that ASCII text can contain, letters and digits, or one punctuation
// character. bpe: all that are one token and contain no zero byte. The trie has all other words. Opening a file does
// not read the slots: code that takes an id from one compares it with the vocabulary's size.
#ifndef BANTAM_TEXT_WORD_TABLE_H_
#define BANTAM_TEXT_WORD_TABLE_H_

#include <stdint.h>
#include <string.h>

#include "bantam/status.h"

namespace bantam::text {

struct Check;

constexpr uint32_t kMaxTableWord = 12;
constexpr uint32_t kMaxDisplacement = 255;
constexpr uint32_t kMaxBucketBits = 24;

/// A word in registers, padded with zeros, and its token.
struct WordSlot {
  uint64_t low;   // bytes 0 to 7; 0: the slot is empty
  uint32_t high;  // bytes 8 to 11
  uint32_t id;
};

inline uint64_t load_u64(const uint8_t* bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof(value));
  return value;
}

inline uint32_t load_u32(const uint8_t* bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof(value));
  return value;
}

inline constexpr uint8_t kWordMask[2 * kMaxTableWord] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

/// Returns the first `size` (at most kMaxTableWord) bytes at `bytes`, kMaxTableWord of which must be readable, as a
/// slot without id; the bits of `fold` are set in each byte.
inline WordSlot short_word(const uint8_t* bytes, uint32_t size, uint64_t fold) {
  const uint8_t* mask = kWordMask + kMaxTableWord - size;
  return {(load_u64(bytes) | fold) & load_u64(mask),
          (load_u32(bytes + 8) | static_cast<uint32_t>(fold)) & load_u32(mask + 8), 0};
}

constexpr uint64_t kWordTableHeader = 8;

/// The offset of the slots, and the size of the whole table.
inline uint64_t word_slots_offset(uint32_t bucket_bits) {
  return (kWordTableHeader + (uint64_t{1} << bucket_bits) + 15) / 16 * 16;
}
inline uint64_t word_table_end(uint32_t bucket_bits, uint32_t home_count) {
  return word_slots_offset(bucket_bits) + (uint64_t{home_count} + kMaxDisplacement) * sizeof(WordSlot);
}

/// A table without words.
inline constexpr WordSlot kNoWords[1] = {};
inline constexpr uint8_t kNoDisplacements[1] = {};

struct WordTable {
  const uint8_t* displacements = kNoDisplacements;
  const WordSlot* slots = kNoWords;
  uint32_t bucket_mask = 0;
  uint32_t home_count = 0;

  WordTable() = default;
  /// `table` is a verified blob.
  explicit WordTable(const uint8_t* table) {
    const uint32_t bucket_bits = load_u32(table);
    displacements = table + kWordTableHeader;
    slots = reinterpret_cast<const WordSlot*>(table + word_slots_offset(bucket_bits));
    bucket_mask = (1u << bucket_bits) - 1;
    home_count = load_u32(table + 4);
  }

  /// The slot of `word` if the table contains it.
  const WordSlot& slot(const WordSlot& word) const {
    const uint64_t hash = hash_of(word);
    return slots[home_of(hash, home_count) + displacements[bucket_of(hash, bucket_mask)]];
  }

  static uint64_t hash_of(const WordSlot& word) {
    return (word.low ^ uint64_t{word.high} * 0xC2B2AE3D27D4EB4Fu) * 0x9E3779B97F4A7C15u;
  }
  static size_t home_of(uint64_t hash, uint32_t home_count) {
    return static_cast<size_t>((hash >> 32) * home_count >> 32);
  }
  static size_t bucket_of(uint64_t hash, uint32_t bucket_mask) {
    return static_cast<size_t>((hash ^ hash >> 32) >> 8 & bucket_mask);
  }
};

/// Verifies the blob `words` of a tokenizer that has one; firmware does not read it. Its ids are checked when a word
/// selects them.
Status check_words(Check& check);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_WORD_TABLE_H_
