// Ids back to text: each kind of decoder, characters that span several tokens, invalid text, and tables that are
// refused.
#include <gtest/gtest.h>

#include <cstring>

#include "bantam/decode.h"
#include "tests/text/bpe_vocabulary.h"
#include "text/decode_rules.h"

namespace bantam::tests {
namespace {

using Ids = std::vector<int32_t>;
using Json = nlohmann::json;

std::string text_of(const Tokenizer& tokenizer, const Ids& ids, bool skip = false) {
  size_t size = 0;
  std::string text(64, '?');
  EXPECT_EQ(decode(tokenizer, ids.data(), ids.size(), skip, text.data(), text.size(), &size), Status::kOk);
  text.resize(size);
  return text;
}

/// Returns the text that each token adds, followed by '|'.
std::string stream_of(const Tokenizer& tokenizer, const Ids& ids) {
  std::string text;
  const auto write = [](void* target, const char* bytes, size_t size) {
    static_cast<std::string*>(target)->append(bytes, size);
  };
  TextDecoder decoder;
  EXPECT_EQ(TextDecoder::open(tokenizer, true, write, &text, &decoder), Status::kOk);
  for (const int32_t id : ids) {
    decoder.add(id);
    text += '|';
  }
  decoder.finish();
  return text;
}

TEST(Decode, WordPieces) {
  SmallTokenizer small(tokenizer_json({"the", "cat", "##s", ".", "n't", "is"}));
  const Tokenizer tokenizer = small.open();
  EXPECT_EQ(text_of(tokenizer, {2, 5, 6, 7, 10, 9, 8, 3}), "[CLS] the cats isn't. [SEP]");
  EXPECT_EQ(text_of(tokenizer, {2, 5, 6, 7, 8, 3}, true), "the cats.");
  EXPECT_EQ(text_of(tokenizer, {7, 5}), "##s the");
  EXPECT_EQ(text_of(tokenizer, {-1, 5, 1000}), "the");
  EXPECT_EQ(text_of(tokenizer, {}), "");
}

TEST(Decode, BytesAreTextOnceACharacterIsWhole) {
  SmallTokenizer small(bpe_json({{" ", "a"}}));
  const Tokenizer tokenizer = small.open();
  const auto byte = [](int value) { return value + 3; };
  const Ids euro = {259, byte(0xE2), byte(0x82), byte(0xAC), byte('!')};
  EXPECT_EQ(text_of(tokenizer, euro), " a\u20ac!");
  EXPECT_EQ(stream_of(tokenizer, euro), " a|||\u20ac|!|");
  // A maximal part of a character becomes one U+FFFD.
  EXPECT_EQ(text_of(tokenizer, {byte(0xE2), byte(0x82), byte('a'), byte(0xFF), byte(0xC3)}), "\ufffda\ufffd\ufffd");
  EXPECT_EQ(text_of(tokenizer, {byte(0xE2), byte(0xE2), byte(0x82), byte(0xAC)}), "\ufffd\u20ac");
  EXPECT_EQ(text_of(tokenizer, {0, byte('a'), 2, 1}, true), "a");
}

TEST(Decode, FallbackBytesAreTextOrNone) {
  SmallTokenizer small(pieces_json({"\u2581", "\u2581a", "b"}, llama_decoder(1)));
  ASSERT_TRUE(small.ok());
  const Tokenizer tokenizer = small.open();
  const auto byte = [](int value) { return value + 1; };
  EXPECT_EQ(text_of(tokenizer, {258, 257, 259}), "a b");
  EXPECT_EQ(text_of(tokenizer, {257, 258}), " a");
  EXPECT_EQ(text_of(tokenizer, {259, byte(0xC3), byte(0xA9), 259}), "b\u00e9b");
  EXPECT_EQ(stream_of(tokenizer, {259, byte(0xC3), byte(0xA9), 259}), "b||\u00e9|b|");
  // As a whole, a run of bytes that is not UTF-8 becomes U+FFFD byte by byte; a stream has already output the valid
  // part.
  EXPECT_EQ(text_of(tokenizer, {byte(0xC3), byte(0xA9), byte(0xFF)}), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(stream_of(tokenizer, {byte(0xC3), byte(0xA9), byte(0xFF)}), "|\u00e9|\ufffd|");
  EXPECT_EQ(text_of(tokenizer, {byte(0xE2), byte(0x82), 259}), "\ufffd\ufffdb");
}

TEST(Decode, SuffixesAreBlanksButTheLast) {
  Json json = pieces_json({"a</w>", "b", "c</w>"}, {{"type", "BPEDecoder"}, {"suffix", "</w>"}});
  json["pre_tokenizer"] = nullptr;
  SmallTokenizer small(json);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(text_of(small.open(), {257, 258, 259}), "a bc");
  EXPECT_EQ(stream_of(small.open(), {257, 258, 259}), "|a |b|c");
}

TEST(Decode, WhatIsNotKnownIsAStatus) {
  SmallTokenizer small(pieces_json({"a"}, {{"type", "CTC"}}));
  ASSERT_TRUE(small.ok());
  size_t size = 0;
  const int32_t id = 257;
  EXPECT_EQ(decode(small.open(), &id, 1, false, nullptr, 0, &size), Status::kUnsupported);
  EXPECT_EQ(decode(Tokenizer(), &id, 1, false, nullptr, 0, &size), Status::kNoTokenizer);
  EXPECT_EQ(decode(small.open(), nullptr, 1, false, nullptr, 0, &size), Status::kInvalidArgument);
  EXPECT_EQ(decode(small.open(), &id, 1, false, nullptr, 0, nullptr), Status::kInvalidArgument);
  TextDecoder closed;
  closed.add(1);
  closed.finish();
}

TEST(Decode, WhatDoesNotFitIsCounted) {
  SmallTokenizer small(tokenizer_json({"the"}));
  const Ids ids = {5, 5};
  char out[8] = "xxxxxxx";
  size_t size = 0;
  EXPECT_EQ(decode(small.open(), ids.data(), 2, false, out, 5, &size), Status::kBufferTooSmall);
  EXPECT_EQ(size, 7u);
  EXPECT_STREQ(out, "the txx");
}

TEST(Decode, DamagedRulesAreRefused) {
  SmallTokenizer small(pieces_json({"a"}, llama_decoder(2)));
  ASSERT_TRUE(small.ok());
  ASSERT_EQ(small.image().verify(), Status::kOk);
  auto& blob = blob_of(small.description(), fb::BlobName::decoder);
  auto* words = reinterpret_cast<uint32_t*>(small.image().data() + blob->offset());
  const auto refuses = [&](size_t word, uint32_t value, Status status) {
    const uint32_t before = words[word];
    words[word] = value;
    EXPECT_EQ(small.image().verify(), status) << word;
    words[word] = before;
  };
  refuses(0, 2, Status::kUnsupported);
  refuses(1, text::kDecodeKinds, Status::kUnsupported);
  refuses(2, text::kDecodeFlagsEnd, Status::kUnsupported);
  refuses(4, 1, Status::kCorrupt);
  refuses(4, 0xFFFFFFFF, Status::kCorrupt);
  *blob = fb::Blob(blob->offset(), 8, 0, 0);
  small.image().repack(small.description());
  EXPECT_EQ(small.image().verify(), Status::kCorrupt);
}

TEST(Decode, RulesWithTooLongATextAreRefused) {
  SmallTokenizer small(pieces_json({"a"}, llama_decoder(2)));
  ASSERT_TRUE(small.ok());
  auto& blob = blob_of(small.description(), fb::BlobName::decoder);
  const uint64_t first = blob->offset();
  const auto sentence_of = [&](uint32_t size) {
    // The rules once more, after all tables, with a text.
    const size_t at = small.image().data_size();
    std::vector<uint64_t> data(at / 8 + 16);
    auto* bytes = reinterpret_cast<uint8_t*>(data.data());
    std::memcpy(bytes, small.image().data(), at);
    text::DecodeRules rules;
    std::memcpy(&rules, small.image().data() + first, sizeof(rules));
    rules.size = size;
    std::memcpy(bytes + at, &rules, sizeof(rules));
    blob = std::make_unique<fb::Blob>(at, sizeof(rules) + size, 0, 0);
    small.image().repack(small.description());
    Fault fault;
    text::verify_tokenizer(small.image().table(), bytes, data.size() * 8, &fault);
    return std::string(fault.what);
  };
  EXPECT_EQ(sentence_of(text::kMaxDecoderText), "");
  EXPECT_EQ(sentence_of(text::kMaxDecoderText + 1), "the decoder's text is not of the size that it says");
}

}  // namespace
}  // namespace bantam::tests
