// SentencePiece's precompiled_charsmap, read in place: blob `charsmap` of a tokenizer.
//
// Layout: u32 size of the double array in bytes; its u32 units; then zero-terminated UTF-8 strings. A unit
// (darts-clone): bits 0-7 and bit 31 label, bit 8: a key ends here, bits 10-30 offset (times 256 if bit 9 is set). The
// value of a key is the position of its string.
#ifndef BANTAM_TEXT_CHARSMAP_H_
#define BANTAM_TEXT_CHARSMAP_H_

#include <stdint.h>

namespace bantam::text {

/// View of such a blob; any bytes are safe to read.
struct Charsmap {
  const uint32_t* units;
  uint32_t unit_count;
  const uint8_t* strings;
  uint32_t strings_size;

  struct Found {
    const uint8_t* text = nullptr;  // null: no key
    uint32_t size = 0;
  };

  Charsmap() = default;  // uninitialized; Charsmap{} finds nothing
  /// Views bytes[0, size) of a verified blob.
  Charsmap(const uint8_t* bytes, uint32_t size) {
    const uint32_t array = *reinterpret_cast<const uint32_t*>(bytes);
    units = reinterpret_cast<const uint32_t*>(bytes) + 1;
    unit_count = array / 4;
    strings = bytes + 4 + array;
    strings_size = size - 4 - array;
  }

  /// Returns the string of the shortest key that is a prefix of key[0, size), as Hugging Face does.
  Found find(const uint8_t* key, uint32_t size) const {
    uint32_t at = unit_count == 0 ? 0 : offset_of(units[0]);
    for (uint32_t i = 0; i < size && key[i] != 0; ++i) {
      at ^= key[i];
      if (at >= unit_count || (units[at] & 0x800000FFu) != key[i]) return {};
      const uint32_t unit = units[at];
      at ^= offset_of(unit);
      if ((unit & 0x100) == 0) continue;
      if (at >= unit_count) return {};
      const uint32_t begin = units[at] & 0x7FFFFFFF;
      if (begin >= strings_size) return {};
      uint32_t end = begin;
      while (end < strings_size && strings[end] != 0) ++end;
      return {strings + begin, end - begin};
    }
    return {};
  }

 private:
  static uint32_t offset_of(uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); }
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_CHARSMAP_H_
