#include "base/printable.h"

#include <fmt/format.h>

#include <cstdint>

#include "text/utf8.h"

namespace bantam::convert {
namespace {

bool is_harmless(uint32_t code) {
  if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) return false;  // C0, DEL, C1
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool directional = code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                           (code >= 0x2066 && code <= 0x2069);
  return !separator && !directional;
}

void append(uint32_t code, std::string_view bytes, std::string* out) {
  if (code == '\n') {
    *out += "\\n";
  } else if (code == '\t') {
    *out += "\\t";
  } else if (code == '\r') {
    *out += "\\r";
  } else if (!is_harmless(code)) {
    *out += fmt::format("\\u{:04x}", code);
  } else if (code == 0xFFFD) {
    *out += "\xEF\xBF\xBD";  // U+FFFD itself, or a replacement for invalid UTF-8
  } else {
    *out += bytes;
  }
}

std::string made_harmless(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    const size_t left = text.size() - at;
    const text::CodePoint point = text::decode_utf8(bytes + at, static_cast<uint32_t>(left < 4 ? left : 4));
    if (lines && point.code == '\n') {
      out += '\n';
    } else {
      append(point.code, text.substr(at, point.size), &out);
    }
    at += point.size;
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return made_harmless(text, false); }

std::string printable_lines(std::string_view text) { return made_harmless(text, true); }

std::string shell_word(std::string_view text) {
  std::string plain = printable(text);
  constexpr const char* kHarmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-+:,@%=";
  if (!plain.empty() && plain[0] != '-' && plain.find_first_not_of(kHarmless) == std::string::npos) return plain;
  std::string word = plain[0] == '-' ? "./'" : "'";
  for (const char c : plain) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    const bool special = std::string_view("\\`*_[]<>#!|~&").find(c) != std::string_view::npos;
    if (special) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace bantam::convert
