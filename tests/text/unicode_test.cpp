// UTF-8 decoding and the normalizer alone.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "text/normalizer.h"
#include "text/utf8.h"

namespace bantam::text {
namespace {

struct Step {
  uint32_t code;
  uint32_t size;
};

void expect_steps(const std::string& text, const std::vector<Step>& steps) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  uint32_t at = 0;
  for (const Step& step : steps) {
    ASSERT_LT(at, text.size());
    const CodePoint c = decode_utf8(bytes + at, static_cast<uint32_t>(text.size()) - at);
    EXPECT_EQ(c.code, step.code);
    EXPECT_EQ(c.size, step.size);
    at += c.size;
  }
  EXPECT_EQ(at, text.size());
}

TEST(Utf8, ReplacesEachMaximalIllFormedSubsequence) {
  // The Unicode Standard, tables 3-8 to 3-11.
  expect_steps("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", {{0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0x41, 1}});
  expect_steps("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", {{0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0x41, 1}});
  expect_steps("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", {{0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0x41, 1},
                                                        {0xFFFD, 1},
                                                        {0xFFFD, 1},
                                                        {0x42, 1}});
  expect_steps("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", {{0xFFFD, 2}, {0xFFFD, 1}, {0xFFFD, 3}, {0xFFFD, 2}, {0x41, 1}});
  expect_steps("\xE4\xB8", {{0xFFFD, 2}});
}

RC_GTEST_PROP(Utf8Property, EncodedCodePointsDecode, ()) {
  const uint32_t code =
      *rc::gen::suchThat(rc::gen::inRange<uint32_t>(0, 0x110000), [](uint32_t c) { return c < 0xD800 || c > 0xDFFF; });
  uint8_t bytes[4] = {};
  const uint32_t size = encode_utf8(code, bytes);
  const CodePoint back = decode_utf8(bytes, size);
  RC_ASSERT(back.code == code);
  RC_ASSERT(back.size == size);
}

TEST(Classes, TheCompactTableHoldsTheSameForEveryCodePoint) {
  for (uint32_t code = 0; code < 0x110000; ++code) {
    ASSERT_EQ(compact_class(code), character_class(code) & ~(kDecomposes | kUpper)) << code;
  }
  EXPECT_EQ(compact_class(0x10FFFF), 0u);
  EXPECT_EQ(compact_class(0x1FFFFE), 0u);
}

using Chars = std::vector<std::vector<uint32_t>>;

Chars normalize(const std::string& text, const Normalization& rules) {
  NormalStream stream(rules, reinterpret_cast<const uint8_t*>(text.data()), 0, static_cast<uint32_t>(text.size()));
  Chars chars;
  for (NormalChar c{}; stream.next(&c);) chars.push_back({c.code, c.begin, c.end});
  EXPECT_TRUE(stream.is_settled());
  EXPECT_EQ(stream.position(), text.size());
  return chars;
}

constexpr Normalization kUncased = {true, true, true, true};
constexpr Normalization kAccents = {true, true, true, false};

TEST(Normalizer, StripsAccentsAndKeepsTheBytesTheyStoodFor) {
  EXPECT_EQ(normalize("\u00c9e\u0301x", kUncased), (Chars{{'e', 0, 2}, {'e', 2, 3}, {'x', 5, 6}}));
  EXPECT_EQ(normalize("\u00c9", kAccents), (Chars{{0xE9, 0, 2}}));
  EXPECT_EQ(normalize("\u0130", kAccents), (Chars{{'i', 0, 2}, {0x307, 0, 2}}));
  EXPECT_EQ(normalize("\u0130", kUncased), (Chars{{'i', 0, 2}}));
  EXPECT_EQ(normalize("\u03a3\u03a3", kUncased), (Chars{{0x3C3, 0, 2}, {0x3C3, 2, 4}}));
}

TEST(Normalizer, TakesHangulApartAndSetsIdeographsApart) {
  EXPECT_EQ(normalize("\uac01", kUncased), (Chars{{0x1100, 0, 3}, {0x1161, 0, 3}, {0x11A8, 0, 3}}));
  EXPECT_EQ(normalize("\uac01", kAccents), (Chars{{0xAC01, 0, 3}}));
  EXPECT_EQ(normalize("a\u4e2d", kUncased), (Chars{{'a', 0, 1}, {' ', 1, 4}, {0x4E2D, 1, 4}, {' ', 1, 4}}));
}

TEST(Normalizer, CleansControlsAndBlanks) {
  const std::string text("a\0\x07\t\u00a0\ufffdz\xff", 11);
  EXPECT_EQ(normalize(text, kUncased), (Chars{{'a', 0, 1}, {' ', 3, 4}, {' ', 4, 6}, {'z', 9, 10}}));
  EXPECT_EQ(normalize(std::string("\0", 1), {}), (Chars{{0, 0, 1}}));
}

TEST(Normalizer, ReordersNonstartersThatSurvive) {
  // A mark of class 230 before a spacing virama of class 9: the virama sorts first and takes the mark's bytes.
  EXPECT_EQ(normalize("e\u0301\ua9c0x", kUncased), (Chars{{'e', 0, 1}, {0xA9C0, 1, 3}, {'x', 6, 7}}));
  // Two musical modifiers, of classes 226 and 216, and one from a decomposition.
  EXPECT_EQ(normalize("\U0001d15e\U0001d16d\U0001d165", kUncased),
            (Chars{{0x1D157, 0, 4}, {0x1D165, 0, 4}, {0x1D165, 4, 8}, {0x1D16D, 8, 12}}));
}

RC_GTEST_PROP(NormalizerProperty, OffsetsAreOrderedForAnyBytes, (const std::vector<uint8_t>& bytes, uint8_t flags)) {
  const Normalization rules = {(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0};
  const auto size = static_cast<uint32_t>(bytes.size());
  NormalStream stream(rules, bytes.data(), 0, size);
  uint32_t begin = 0;
  uint32_t end = 0;
  for (NormalChar c{}; stream.next(&c);) {
    RC_ASSERT(c.code < 0x110000u);
    RC_ASSERT(c.begin >= begin);
    RC_ASSERT(c.end >= end);
    RC_ASSERT(c.begin < c.end);
    begin = c.begin;
    end = c.end;
  }
  RC_ASSERT(end <= size);
}

}  // namespace
}  // namespace bantam::text
