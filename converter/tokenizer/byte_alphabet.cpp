#include "tokenizer/byte_alphabet.h"

#include <array>

#include "text/utf8.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kFirstOther = 0x100;
constexpr uint32_t kNoByte = 256;

constexpr bool stands_for_itself(uint32_t byte) {
  return (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte <= 0xFF && byte != 0xAD);
}

/// Maps each code point of the alphabet's range to its byte, or to kNoByte.
const std::array<uint16_t, 2 * kFirstOther>& bytes_by_letter() {
  static const auto table = [] {
    std::array<uint16_t, 2 * kFirstOther> bytes{};
    bytes.fill(kNoByte);
    for (uint32_t byte = 0; byte < 256; ++byte) {
      bytes.at(letter_of_byte(static_cast<uint8_t>(byte))) = static_cast<uint16_t>(byte);
    }
    return bytes;
  }();
  return table;
}

}  // namespace

uint32_t letter_of_byte(uint8_t byte) {
  if (stands_for_itself(byte)) return byte;
  uint32_t before = 0;
  for (uint32_t other = 0; other < byte; ++other) before += stands_for_itself(other) ? 0u : 1u;
  return kFirstOther + before;
}

bool bytes_of_letters(const std::string& token, std::string* bytes) {
  bytes->clear();
  const auto* from = reinterpret_cast<const uint8_t*>(token.data());
  for (size_t at = 0; at < token.size();) {
    const text::CodePoint c = text::decode_utf8(from + at, static_cast<uint32_t>(token.size() - at));
    if (c.code >= bytes_by_letter().size() || bytes_by_letter().at(c.code) == kNoByte) return false;
    bytes->push_back(static_cast<char>(bytes_by_letter().at(c.code)));
    at += c.size;
  }
  return true;
}

}  // namespace bantam::convert
