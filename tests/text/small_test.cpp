// Firmware and hosts compute the same from a text: ids, offsets, segments, counts.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "tests/exhaustive.h"
#include "tests/text/small_encoder.h"
#include "tests/text/vocabulary.h"
#include "text/utf8.h"

namespace bantam::tests {
namespace {

/// The largest number of tokens of a text here; longer texts are truncated.
constexpr uint32_t kCapacity = 160;

/// One tokenizer in both versions.
class Both {
 public:
  explicit Both(const nlohmann::json& json) : tokenizer_(json) {
    if (tokenizer_.ok()) host_ = tokenizer_.open();
  }

  TokenizerImage& image() { return tokenizer_.image(); }
  fb::TokenizerT& description() { return tokenizer_.description(); }
  Status verify() { return small_verify(&image().table(), image().data(), image().data_size()); }

  Encoded small(const std::string& first, const std::string* second = nullptr, const EncodeOptions& options = {}) {
    Encoded out;
    out.ids.resize(kCapacity);
    out.segments.resize(kCapacity);
    out.offsets.resize(kCapacity);
    out.sequences.resize(kCapacity);
    const TokenBuffer buffer = {out.ids.data(), out.segments.data(), out.offsets.data(), out.sequences.data(),
                                kCapacity};
    out.status = small_encode(&image().table(), image().data(), view(first), second == nullptr ? Text{} : view(*second),
                              options, buffer, &out.result);
    const size_t count = out.status == Status::kOk ? out.result.count : 0;
    out.ids.resize(count);
    out.segments.resize(count);
    out.offsets.resize(count);
    out.sequences.resize(count);
    return out;
  }

  /// Returns true if both agree; otherwise reports the difference.
  bool agree(const std::string& first, const std::string* second = nullptr, const EncodeOptions& options = {}) {
    const Encoded a = encode(host_, first, second, options, kCapacity);
    const Encoded b = small(first, second, options);
    bool same = a.status == b.status && a.ids == b.ids && a.segments == b.segments && a.sequences == b.sequences &&
                a.result.count == b.result.count && a.result.truncated == b.result.truncated;
    for (int s = 0; s < 2; ++s) {
      same = same && a.result.content[s] == b.result.content[s] && a.result.kept[s] == b.result.kept[s];
    }
    for (size_t i = 0; same && i < a.offsets.size(); ++i) {
      same = a.offsets[i].begin == b.offsets[i].begin && a.offsets[i].end == b.offsets[i].end;
    }
    return same;
  }

 private:
  SmallTokenizer tokenizer_;
  Tokenizer host_;
};

std::string utf8(uint32_t code) {
  std::array<uint8_t, 4> bytes{};
  const uint32_t size = text::encode_utf8(code, bytes.data());
  return std::string(reinterpret_cast<const char*>(bytes.data()), size);
}

/// The vocabulary of the model in this repository and tokens in other scripts: results of mappings, and characters that
/// mappings do not change. `common` false: only ASCII.
nlohmann::json json_of(bool lowercase, bool strip, bool common = true) {
  std::vector<std::string> tokens;
  std::ifstream file(std::string(BANTAM_SOURCE_DIR) + "/models/voice-commands/vocab.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.size() > 1 && line.front() == '[' && line.back() == ']') continue;
    const bool ascii = std::all_of(line.begin(), line.end(), [](char c) { return (c & 0x80) == 0; });
    if (!line.empty() && (common || ascii)) tokens.push_back(line);
  }
  if (common) {
    for (const char* token : {"\u00e9",   "##\u00e9", "\u03b1", "##\u03b1", "\u03c3",     "##\u03c3",     "\u0434",
                              "##\u0434", "\u0414",   "\u8c48", "\u66f4",   "\U00020122", "\u1100",       "\u1161",
                              "##\u1161", "##\u11a8", "\u304b", "##\u304b", "\u0915",     "##\U0001d165", "\U0001d157",
                              "\u0307",   "##\u0307", "\u05d0", "\u2208",   "\ua9c0",     "##\ua9c0",     "\ufffd"}) {
      tokens.emplace_back(token);
    }
  }
  nlohmann::json json = tokenizer_json(tokens);
  json["normalizer"]["lowercase"] = lowercase;
  json["normalizer"]["strip_accents"] = strip;
  return json;
}

class Small : public ::testing::TestWithParam<std::array<bool, 3>> {};

/// Steps between the compared code points, below U+3400 and above: primes, so that every block is reached.
struct Stride {
  uint32_t common, rare;
};
Stride stride_of_test() {
  if (testing::exhaustive()) return {1, 1};
  return testing::rounds(Stride{1, 31}, Stride{29, 1009});
}

TEST_P(Small, CodePointsInContextsGiveTheSame) {
  const auto [lowercase, strip, common] = GetParam();
  Both both(json_of(lowercase, strip, common));
  ASSERT_EQ(both.verify(), Status::kOk);
  const Stride stride = stride_of_test();
  for (uint32_t code = 0; code < 0x110000; code += code < 0x3400 ? stride.common : stride.rare) {
    if (code >= 0xD800 && code < 0xE000) continue;
    const std::string c = utf8(code);
    ASSERT_TRUE(both.agree(c)) << code;
    ASSERT_TRUE(both.agree("a" + c + "b " + c + " e" + c + "\u0301\ua9c0x ##" + c + " s" + c + c)) << code;
  }
}

// Lower case, stripping of accents, non-ASCII tokens in the vocabulary.
INSTANTIATE_TEST_SUITE_P(Rules, Small,
                         ::testing::Values(std::array<bool, 3>{true, true, true},
                                           std::array<bool, 3>{true, true, false},
                                           std::array<bool, 3>{true, false, true},
                                           std::array<bool, 3>{false, true, true},
                                           std::array<bool, 3>{false, false, false}));

/// Texts of pieces that are difficult for the tokenizer.
rc::Gen<std::string> awkward_text() {
  const std::vector<std::string> pieces = {"play",
                                           "Playing",
                                           " ",
                                           "jazz",
                                           "\u00e9",
                                           "\u00c9",
                                           "\u0130",
                                           "\u03a3",
                                           "\u00df",
                                           "\u0300",
                                           "\u0327",
                                           "\u0345",
                                           "\u1b44",
                                           "\ua9c0",
                                           "\u302e",
                                           "\U0001d15e",
                                           "\U0001d160",
                                           "\U0001d165",
                                           "\U0001d16d",
                                           "\u3099",
                                           "\uac00",
                                           "\uac01",
                                           "\u4e2d",
                                           "\uf900",
                                           "\U0002f800",
                                           "\u00a0",
                                           "\u3000",
                                           "\t",
                                           "\u200d",
                                           "\u00ad",
                                           "\U0001f600",
                                           "\u1e9b",
                                           "\u037e",
                                           "\u1fef",
                                           ".",
                                           "'",
                                           "[MASK]",
                                           "[SEP]",
                                           "[",
                                           "<x>",
                                           "new york",
                                           "\xff",
                                           "\xe4\xb8",
                                           "#",
                                           std::string("\0", 1),
                                           std::string(70, 'a'),
                                           std::string(40, 'Z')};
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces)),
                      [](const std::vector<std::string>& parts) {
                        std::string text;
                        for (const std::string& part : parts) text += part;
                        return text;
                      });
}

RC_GTEST_PROP(SmallProperty, AnyTextGivesTheSame, ()) {
  static Both plain(json_of(true, true));
  static Both accents(json_of(true, false));
  const std::string first = *awkward_text();
  const std::string second = *awkward_text();
  EncodeOptions options;
  options.max_tokens = *rc::gen::inRange<uint32_t>(0, 40);
  options.skip = *rc::gen::inRange<uint32_t>(0, 9);
  for (Both* both : {&plain, &accents}) {
    RC_ASSERT(both->agree(first));
    RC_ASSERT(both->agree(first, nullptr, options));
    RC_ASSERT(both->agree(first, &second, options));
  }
}

RC_GTEST_PROP(SmallProperty, AnyBytesGiveTheSame, (const std::vector<uint8_t>& bytes)) {
  static Both both(json_of(true, true));
  RC_ASSERT(both.agree(std::string(bytes.begin(), bytes.end())));
}

RC_GTEST_PROP(SmallProperty, AddedTokensGiveTheSame, (bool normalized, bool single_word, bool lstrip, bool rstrip)) {
  nlohmann::json json = tokenizer_json({"x", "<", ">", "cafe", "new", "york", "z", "##z", "a", ".", "_"});
  for (const char* token : {"<x>", "Caf\u00e9", "new york", "zz"}) {
    json["added_tokens"].push_back({{"id", 11 + json["added_tokens"].size()},
                                    {"content", token},
                                    {"normalized", normalized},
                                    {"single_word", single_word},
                                    {"lstrip", lstrip},
                                    {"rstrip", rstrip}});
  }
  Both both(json);
  RC_ASSERT(both.verify() == Status::kOk);
  const auto parts = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "<x>", "<X>", "Caf\u00e9", "CAFE", "cafe\u0301", "new", " york", " ", "z", "zz", "\u3000", ".", "_", "a"));
  std::string text;
  for (const std::string& part : parts) text += part;
  RC_ASSERT(both.agree(text));
}

TEST(SmallVerify, WantsTheMapOfCodePointsAndWordsThatFit) {
  Both both(json_of(true, true));
  ASSERT_EQ(both.verify(), Status::kOk);
  fb::TokenizerT& t = both.description();
  std::unique_ptr<fb::Blob>& stored = blob_of(t, fb::BlobName::char_map);
  const fb::Blob map = *stored;
  uint8_t* version = both.image().data() + map.offset();
  *version = 2;
  EXPECT_EQ(both.verify(), Status::kUnsupported);
  *version = 1;
  stored = std::make_unique<fb::Blob>(map.offset(), both.image().data_size(), 0, 0);
  both.image().repack(t);
  EXPECT_EQ(both.verify(), Status::kCorrupt);
  stored = std::make_unique<fb::Blob>(map.offset(), 0, 0, 0);
  both.image().repack(t);
  EXPECT_EQ(both.verify(), Status::kUnsupported);
  stored = nullptr;  // named, but without data
  both.image().repack(t);
  EXPECT_EQ(both.verify(), Status::kCorrupt);
  t.blobs.erase(std::find_if(t.blobs.begin(), t.blobs.end(),
                             [](const auto& blob) { return blob->name == fb::BlobName::char_map; }));
  both.image().repack(t);
  EXPECT_EQ(both.verify(), Status::kUnsupported);
  t.normalizers[0]->lowercase = false;
  t.normalizers[0]->strip_accents = false;
  both.image().repack(t);
  EXPECT_EQ(both.verify(), Status::kOk);
  t.model->max_word_chars = 101;
  both.image().repack(t);
  EXPECT_EQ(both.verify(), Status::kUnsupported);
}

RC_GTEST_PROP(SmallProperty, AnyMapIsSafeToRead, (const std::vector<uint8_t>& bytes)) {
  static Both both(json_of(true, true));
  const fb::Blob& map = *blob_of(both.description(), fb::BlobName::char_map);
  uint8_t* begin = both.image().data() + map.offset();
  const std::vector<uint8_t> good(begin, begin + map.size());
  for (size_t i = 1; i < good.size() && i <= bytes.size(); ++i) begin[i] = bytes[i - 1];
  const std::string text = "caf\u00e9 \u00c5 \u0391\u0301 \uf900 \U0001d15e \u0130 \ufffd";
  const Encoded out = both.small(text);
  std::copy(good.begin(), good.end(), begin);
  RC_ASSERT(out.status == Status::kOk);
  for (const Offset offset : out.offsets) RC_ASSERT(offset.begin <= offset.end && offset.end <= text.size());
}

}  // namespace
}  // namespace bantam::tests
