// UTF-8, one code point at a time.
#ifndef BANTAM_TEXT_UTF8_H_
#define BANTAM_TEXT_UTF8_H_

#include <stdint.h>

namespace bantam::text {

struct CodePoint {
  uint32_t code;
  uint32_t size;  // bytes
};

/// Size of the code point that begins with this byte.
inline uint32_t code_size(uint8_t lead) { return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

/// Returns true if a byte continues the code point of the byte before it.
inline bool goes_on_code(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/// Decodes the code point at `bytes` (size >= 1). A maximal ill-formed subsequence (The Unicode Standard, table 3-7 and
/// definition D93b) yields U+FFFD and its own length, at least 1.
inline CodePoint decode_utf8(const uint8_t* bytes, uint32_t size) {
  const uint32_t lead = bytes[0];
  if (lead < 0x80) return {lead, 1};
  constexpr uint32_t kBad = 0xFFFD;
  if (lead < 0xC2 || lead > 0xF4) return {kBad, 1};
  uint32_t low = 0x80;
  uint32_t high = 0xBF;
  if (lead == 0xE0) low = 0xA0;   // overlong
  if (lead == 0xED) high = 0x9F;  // surrogates
  if (lead == 0xF0) low = 0x90;   // overlong
  if (lead == 0xF4) high = 0x8F;  // beyond U+10FFFF
  if (size < 2 || bytes[1] < low || bytes[1] > high) return {kBad, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (bytes[1] & 0x3Fu), 2};
  if (size < 3 || (bytes[2] & 0xC0) != 0x80) return {kBad, 2};
  const uint32_t three = (bytes[1] & 0x3Fu) << 6 | (bytes[2] & 0x3Fu);
  if (lead < 0xF0) return {(lead & 0xF) << 12 | three, 3};
  if (size < 4 || (bytes[3] & 0xC0) != 0x80) return {kBad, 3};
  return {(lead & 7) << 18 | three << 6 | (bytes[3] & 0x3Fu), 4};
}

/// Writes `code` (< 0x110000) to `out` (4 bytes) and returns the number of bytes written.
inline uint32_t encode_utf8(uint32_t code, uint8_t* out) {
  if (code < 0x80) {
    out[0] = static_cast<uint8_t>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<uint8_t>(0xC0 | code >> 6);
    out[1] = static_cast<uint8_t>(0x80 | (code & 0x3F));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<uint8_t>(0xE0 | code >> 12);
    out[1] = static_cast<uint8_t>(0x80 | (code >> 6 & 0x3F));
    out[2] = static_cast<uint8_t>(0x80 | (code & 0x3F));
    return 3;
  }
  out[0] = static_cast<uint8_t>(0xF0 | code >> 18);
  out[1] = static_cast<uint8_t>(0x80 | (code >> 12 & 0x3F));
  out[2] = static_cast<uint8_t>(0x80 | (code >> 6 & 0x3F));
  out[3] = static_cast<uint8_t>(0x80 | (code & 0x3F));
  return 4;
}

}  // namespace bantam::text

#endif  // BANTAM_TEXT_UTF8_H_
