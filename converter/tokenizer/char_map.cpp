#include <algorithm>
#include <array>
#include <set>

#include "text/char_map.h"
#include "text/normalizer.h"
#include "text/utf8.h"
#include "tokenizer/tokenizer_tables.h"

namespace bantam::convert {
namespace {

/// A code point outside ASCII and its replacement.
struct Mapping {
  uint32_t from;
  std::vector<uint32_t> to;

  bool is_single() const { return to.size() == 1; }
  uint32_t delta() const { return to.front() - from; }  // modulo 2^32
};

/// The last code point that has a decomposition or a lower-case form; and ideographs, which have neither. Skipping them
/// makes an import ten times faster; tests/text/small_test.cpp checks every code point.
constexpr uint32_t kLastMapped = 0x2FA1D;
constexpr bool is_plain_ideograph(uint32_t code) {
  return (code >= 0x3400 && code < 0x4DC0) || (code >= 0x4E00 && code < 0xA000) || (code >= 0x20000 && code < 0x2F800);
}

/// Normalizes `code` into `*result`, whose memory is reused.
void normalize(const text::Normalization& rules, uint32_t code, std::vector<uint32_t>* result) {
  std::array<uint8_t, 4> bytes{};
  const uint32_t size = text::encode_utf8(code, bytes.data());
  text::NormalStream stream(rules, bytes.data(), 0, size);
  result->clear();
  for (text::NormalChar c{}; stream.next(&c);) result->push_back(c.code);
}

bool splits_words(uint32_t code) { return (text::character_class(code) & (text::kSpace | text::kPunctuation)) != 0; }

bool is_starter(uint32_t code) { return text::character_class(code) >> text::kRankShift == 0; }

/// Returns true if leaving m.from unchanged could change ids or offsets.
bool matters(const Mapping& m, const std::set<uint32_t>& alphabet) {
  if (alphabet.count(m.from) != 0 || splits_words(m.from)) return true;
  bool known = true;
  for (const uint32_t part : m.to) {
    if (splits_words(part) || !is_starter(part)) return true;
    known = known && alphabet.count(part) != 0;
  }
  return known;
}

std::vector<Mapping> mappings(const text::Normalization& rules, const std::vector<std::string>* tokens) {
  std::set<uint32_t> alphabet;
  if (tokens != nullptr) {
    for (const std::string& token : *tokens) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(token.data());
      for (uint32_t at = 0; at < token.size();) {
        const text::CodePoint c = text::decode_utf8(bytes + at, static_cast<uint32_t>(token.size()) - at);
        alphabet.insert(c.code);
        at += c.size;
      }
    }
  }
  std::vector<Mapping> result;
  std::vector<uint32_t> to;
  for (uint32_t code = 0x80; code <= kLastMapped; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;  // surrogates
    if (text::is_hangul_syllable(code) || is_plain_ideograph(code)) continue;
    normalize(rules, code, &to);
    if (to.empty() || (to.size() == 1 && to.front() == code)) continue;
    Mapping m{code, to};
    if (tokens == nullptr || matters(m, alphabet)) result.push_back(std::move(m));
  }
  return result;
}

void put_varint(uint32_t value, std::vector<uint8_t>& out) {
  for (int shift = 28; shift > 0; shift -= 7) {
    if (value >> shift != 0) out.push_back(static_cast<uint8_t>(value >> shift | 0x80));
  }
  out.push_back(static_cast<uint8_t>(value & 0x7F));
}

/// The number of mappings from index i on that form one run of this kind.
size_t run_length(const std::vector<Mapping>& all, size_t i, text::MapRun kind) {
  const uint32_t stride = kind == text::MapRun::kSecond ? 2 : 1;
  size_t n = 1;
  for (; i + n < all.size(); ++n) {
    const Mapping& next = all[i + n];
    if (next.from != all[i].from + n * stride || !next.is_single()) break;
    if (kind == text::MapRun::kSame ? next.to != all[i].to : next.delta() != all[i].delta()) break;
  }
  return n;
}

}  // namespace

std::vector<uint8_t> build_char_map(text::Normalization rules, const std::vector<std::string>* tokens) {
  rules.clean_text = false;
  rules.split_chinese = false;
  std::vector<uint8_t> blob = {text::kCharMapVersion};
  const std::vector<Mapping> all = mappings(rules, tokens);
  uint32_t end = 0;
  for (size_t i = 0; i < all.size();) {
    auto kind = text::MapRun::kSame;
    size_t count = all[i].to.size();
    size_t next = i + 1;
    if (all[i].is_single()) {
      for (const text::MapRun other : {text::MapRun::kShift, text::MapRun::kSecond}) {
        if (run_length(all, i, other) > run_length(all, i, kind)) kind = other;
      }
      count = run_length(all, i, kind);
      next = i + count;
    } else {
      kind = text::MapRun::kSequence;
    }
    put_varint(all[i].from - end, blob);
    put_varint(static_cast<uint32_t>(count - 1) << 2 | static_cast<uint32_t>(kind), blob);
    if (kind == text::MapRun::kSequence || kind == text::MapRun::kSame) {
      for (const uint32_t part : all[i].to) put_varint(part, blob);
    } else {
      put_varint(all[i].delta() << 1 ^ (0 - (all[i].delta() >> 31)), blob);
    }
    end = all[next - 1].from + 1;
    i = next;
  }
  return blob;
}

}  // namespace bantam::convert
