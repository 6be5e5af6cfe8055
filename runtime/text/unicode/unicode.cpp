#include "text/unicode/unicode.h"

#include "linked.h"

namespace bantam::text {
namespace {

#if !defined(BANTAM_FIRMWARE) || BANTAM_IF_LINKED(TokenEdges) || BANTAM_IF_LINKED(NormalizedTokens)

/// Number of elements of the ascending `values` that are <= code.
template <typename T>
uint32_t upper_bound(const T* values, uint32_t count, uint32_t code) {
  uint32_t low = 0;
  while (count > 0) {
    const uint32_t half = count / 2;
    if (values[low + half] <= code) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

#endif
#if !defined(BANTAM_FIRMWARE)
constexpr uint32_t kCjkFirst = 0xF900;
constexpr uint32_t kCjkCount = 0x200;
constexpr uint32_t kCjkSupplement = 0x2F800;
constexpr uint32_t kCjkSupplementCount = 0x21E;

uint32_t cjk_target(uint32_t index) {
  const bool plane2 = (kStripCjkPlane2[index / 8] >> (index % 8) & 1) != 0;
  return kStripCjk[index] | (plane2 ? 0x20000u : 0u);
}
#endif

}  // namespace

bool is_chinese(uint32_t code) {
  if (code < 0x3400) return false;
  return code <= 0x4DBF || (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0xF900 && code <= 0xFAFF) ||
         (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B81F) ||
         (code >= 0x2B920 && code <= 0x2CEAF) || (code >= 0x2F800 && code <= 0x2FA1F);
}

uint32_t decompose_hangul(uint32_t code, uint32_t out[kMaxExpansion]) {
  const uint32_t syllable = code - 0xAC00;  // The Unicode Standard, section 3.12
  out[0] = 0x1100 + syllable / 588;
  out[1] = 0x1161 + syllable % 588 / 28;
  if (syllable % 28 == 0) return 2;
  out[2] = 0x11A7 + syllable % 28;
  return 3;
}

#if !defined(BANTAM_FIRMWARE)
uint32_t decompose_stripped(uint32_t code, uint32_t out[kMaxExpansion]) {
  if (is_hangul_syllable(code)) return decompose_hangul(code, out);
  uint32_t target = 0;
  if (code - kCjkFirst < kCjkCount) {
    target = cjk_target(code - kCjkFirst);
  } else if (code - kCjkSupplement < kCjkSupplementCount) {
    target = cjk_target(kCjkCount + code - kCjkSupplement);
  } else {
    const uint32_t found = upper_bound(kStripFrom, kStripCount, code);
    if (found > 0 && kStripFrom[found - 1] == code) target = kStripTo[found - 1];
  }
  if (target != 0) {
    out[0] = target;
    return 1;
  }
  for (uint32_t i = 0; i < kStripLongCount; i += 4) {
    if (kStripLong[i] != code) continue;
    uint32_t size = 0;
    while (size < kMaxExpansion && kStripLong[i + 1 + size] != 0) {
      out[size] = kStripLong[i + 1 + size];
      ++size;
    }
    return size;
  }
  out[0] = code;
  return 1;
}

uint32_t lower_case(uint32_t code, uint32_t out[kMaxExpansion]) {
  if (code == 0x130) {  // the only one that maps to two code points: i and a combining dot above
    out[0] = 'i';
    out[1] = 0x307;
    return 2;
  }
  uint32_t low = 0;
  uint32_t count = kLowerCount;
  while (count > 0) {  // finds the last range that begins at or before code
    const uint32_t half = count / 2;
    if (kLower[low + half].first <= code) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  out[0] = code;
  // Ranges of stride 2 interleave with the targets of adjacent ranges, and rarely with another range.
  for (uint32_t i = low; i > 0 && i + 2 > low; --i) {
    const LowerRange& range = kLower[i - 1];
    const uint32_t step = code - range.first;
    if (step % range.stride == 0 && step / range.stride < range.count) {
      out[0] = code + static_cast<uint32_t>(range.delta);
      break;
    }
  }
  return 1;
}

#endif

#if BANTAM_IF_LINKED(TokenEdges) || BANTAM_IF_LINKED(NormalizedTokens)
bool is_word_character(uint32_t code) {
  const uint32_t at =
      code < 0x10000 ? upper_bound(kWordLow, kWordLowCount, code) : upper_bound(kWordHigh, kWordHighCount, code);
  return at % 2 == 1;
}
#endif

}  // namespace bantam::text
