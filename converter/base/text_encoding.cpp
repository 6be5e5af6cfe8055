#include "base/text_encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/error.h"
#include "text/utf8.h"

namespace bantam::convert {

bool is_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    const auto left = static_cast<uint32_t>(std::min<size_t>(text.size() - at, 4));
    const text::CodePoint c = text::decode_utf8(bytes + at, left);
    // U+FFFD itself has three bytes, the first of which is 0xEF. Any other decoding to U+FFFD is ill-formed.
    if (c.code == 0xFFFD && !(c.size == 3 && bytes[at] == 0xEF)) return false;
    at += c.size;
  }
  return true;
}

const char* wide_encoding(std::string_view start) {
  using namespace std::string_view_literals;
  const auto begins = [start](std::string_view mark) { return start.substr(0, mark.size()) == mark; };
  if (begins("\xFF\xFE\0\0"sv)) return "UTF-32LE";
  if (begins("\0\0\xFE\xFF"sv)) return "UTF-32BE";
  if (begins("\xFF\xFE"sv)) return "UTF-16LE";
  if (begins("\xFE\xFF"sv)) return "UTF-16BE";
  constexpr size_t kLeast = 4;
  constexpr size_t kMost = 256;
  start = start.substr(0, kMost);
  if (start.size() < kLeast) return nullptr;
  std::array<size_t, 2> zeros = {0, 0};  // at even and at odd offsets
  for (size_t i = 0; i < start.size(); ++i) zeros.at(i % 2) += start[i] == '\0' ? 1u : 0u;
  if (zeros[0] == 0 && zeros[1] * 4 > start.size()) return "UTF-16LE";
  if (zeros[1] == 0 && zeros[0] * 4 > start.size()) return "UTF-16BE";
  return nullptr;
}

void refuse_wide_encoding(const std::string& name, std::string_view start) {
  const char* encoding = wide_encoding(start);
  if (encoding == nullptr) return;
  throw Error(ExitCode::kInvalid,
              fmt::format("{}: is {} text; make it UTF-8: iconv -f {} -t UTF-8 IN > OUT", name, encoding, encoding));
}

void clean_line(std::string* line, bool first) {
  if (!line->empty() && line->back() == '\r') line->pop_back();
  if (first && line->compare(0, 3, "\xEF\xBB\xBF") == 0) line->erase(0, 3);
}

}  // namespace bantam::convert
