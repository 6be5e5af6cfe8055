// Classifies 64 bytes of text, with one bit per byte.
#ifndef BANTAM_TEXT_ASCII_BLOCK_H_
#define BANTAM_TEXT_ASCII_BLOCK_H_

#include <stdint.h>

#include "text/word_table.h"

namespace bantam::text {

constexpr uint32_t kBlockSize = 64;

/// `word` and `printed` are valid for the bytes before the first one of `other`, and undefined from there on.
struct AsciiBlock {
  uint64_t word;     // letters and digits
  uint64_t printed;  // these and punctuation; each punctuation character is a word of its own
  uint64_t other;    // not ASCII, or a control character other than a blank
};

/// Classifies text[0, 64), eight bytes at a time. For a byte below 0x80, adding 0x80 - n sets bit 7 if the byte is at
/// least n, without a carry into the next byte; so each line computes 0x80 in the bytes that satisfy it.
inline AsciiBlock classify_by_words(const uint8_t* text) {
  constexpr uint64_t kEach = 0x0101010101010101u;
  AsciiBlock block = {0, 0, 0};
  for (uint32_t i = 0; i < kBlockSize; i += 8) {
    const uint64_t bytes = load_u64(text + i);
    const uint64_t c = bytes & kEach * 0x7F;
    const auto from = [](uint64_t values, uint64_t least) { return values + kEach * (0x80 - least); };
    const uint64_t folded = c | kEach * 0x20;
    const uint64_t word = (from(folded, 'a') ^ from(folded, 'z' + 1)) | (from(c, '0') ^ from(c, '9' + 1));
    const uint64_t above_blank = from(c, ' ' + 1);
    const uint64_t printed = above_blank ^ from(c, 0x7F);
    const uint64_t blank =
        (from(c, ' ') ^ above_blank) | (from(c, '\t') ^ from(c, '\n' + 1)) | (from(c, '\r') ^ from(c, '\r' + 1));
    const auto bits = [](uint64_t values) { return (values & kEach * 0x80) * 0x0002040810204081u >> 56; };
    block.word |= bits(word) << i;
    block.printed |= bits(printed) << i;
    block.other |= bits(~(printed | blank) | bytes) << i;
  }
  return block;
}

#if defined(__SSE2__)

using ByteVector = uint8_t __attribute__((vector_size(16)));

/// The same with vectors, for machines where one instruction collects their bits.
inline AsciiBlock classify_by_vectors(const uint8_t* text) {
  AsciiBlock block = {0, 0, 0};
  for (uint32_t i = 0; i < kBlockSize; i += sizeof(ByteVector)) {
    ByteVector c;
    memcpy(&c, text + i, sizeof(c));
    const auto word = ((c | 0x20) - 'a' <= 'z' - 'a') | (c - '0' <= '9' - '0');
    const auto printed = c - '!' <= '~' - '!';
    const auto blank = (c == ' ') | (c == '\n') | (c == '\t') | (c == '\r');
    const auto bits = [](auto mask) {
      using Mask = char __attribute__((vector_size(16)));
      return static_cast<uint64_t>(static_cast<uint32_t>(__builtin_ia32_pmovmskb128(reinterpret_cast<Mask>(mask))));
    };
    block.word |= bits(word) << i;
    block.printed |= bits(printed) << i;
    block.other |= (bits(printed | blank) ^ 0xFFFF) << i;
  }
  return block;
}

inline AsciiBlock classify_ascii(const uint8_t* text) { return classify_by_vectors(text); }
#else
inline AsciiBlock classify_ascii(const uint8_t* text) { return classify_by_words(text); }
#endif

}  // namespace bantam::text

#endif  // BANTAM_TEXT_ASCII_BLOCK_H_
