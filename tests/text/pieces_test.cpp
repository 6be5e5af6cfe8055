// BPE of code points: the same tokens as merging one pair after the other, unknown characters, long texts.
#include <gtest/gtest.h>

#include <random>

#include "tests/text/vocabulary.h"
#include "text/bpe.h"
#include "tokenizer/bpe_tables.h"

namespace bantam::tests {
namespace {

using Ids = std::vector<int32_t>;
using Json = nlohmann::json;
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// An importable tokenizer.json: <unk>, these code points, the results of the merges, then <0x00> to <0xFF> if
/// `fallback`.
Json merging_json(const std::vector<std::string>& letters, const Pairs& merges, bool fallback) {
  Json vocabulary = {{"<unk>", 0}};
  const auto add = [&vocabulary](const std::string& piece) {
    const size_t id = vocabulary.size();
    if (!vocabulary.contains(piece)) vocabulary[piece] = id;
  };
  for (const std::string& letter : letters) add(letter);
  Json list = Json::array();
  for (const auto& [left, right] : merges) {
    add(left + right);
    list.push_back({left, right});
  }
  for (int byte = 0; fallback && byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", static_cast<unsigned>(byte));
    add(name);
  }
  Json json;
  json["model"] = {{"type", "BPE"},        {"vocab", vocabulary},       {"merges", list},
                   {"unk_token", "<unk>"}, {"byte_fallback", fallback}, {"fuse_unk", true}};
  json["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "never"}, {"split", false}};
  return json;
}

/// Merges by definition. `parts`: code points of the text, with marks for blanks.
Ids naive(const Json& json, const Pairs& merges, const std::vector<std::string>& parts) {
  const auto id_of = [&](const std::string& piece) { return json["model"]["vocab"][piece].get<uint32_t>(); };
  std::vector<convert::Merge> resolved;
  for (const auto& [left, right] : merges) resolved.push_back({id_of(left), id_of(right), id_of(left + right)});
  std::vector<uint32_t> ids;
  for (const std::string& part : parts) ids.push_back(id_of(part));
  convert::Merging::Result last{};
  convert::Merge pair{};
  convert::Merging(resolved).merge(&ids, &last, &pair);
  return {ids.begin(), ids.end()};
}

TEST(Pieces, AreWhatMergingMakes) {
  std::mt19937 dice(5);
  const std::vector<std::string> letters = {"a", "\u00e9", "\u4e2d", "\u2581"};
  for (const size_t count : {0u, 3u, 12u, 60u}) {
    for (int round = 0; round < 8; ++round) {
      std::vector<std::string> pool = letters;
      Pairs merges;
      for (size_t i = 0; i < count; ++i) {
        const std::string left = pool[dice() % pool.size()];
        const std::string right = pool[dice() % pool.size()];
        const bool known = std::find(pool.begin(), pool.end(), left + right) != pool.end();
        if (known || (left + right).size() > 60) continue;
        merges.emplace_back(left, right);
        pool.push_back(left + right);
      }
      const Json json = merging_json(letters, merges, false);
      SmallTokenizer small(json);
      ASSERT_TRUE(small.ok());
      ASSERT_EQ(small.image().verify(), Status::kOk);
      for (const size_t size : {1u, 3u, 9u, 40u, 700u}) {
        std::vector<std::string> parts;
        std::string text;
        for (size_t i = 0; i < size; ++i) {
          parts.push_back(letters[dice() % letters.size()]);
          text += parts.back() == "\u2581" && dice() % 2 == 0 ? " " : parts.back();
        }
        EXPECT_EQ(encode(small.open(), text).ids, naive(json, merges, parts)) << count << ", " << size;
      }
    }
  }
}

TEST(Pieces, UnknownCodePointsAreBytesOrOneToken) {
  const Pairs merges = {{"a", "b"}};
  const std::string text = "abx\u00e9ab";
  SmallTokenizer fused(merging_json({"a", "b"}, merges, false));
  const Encoded one = encode(fused.open(), text);
  EXPECT_EQ(one.ids, (Ids{3, 0, 3}));
  EXPECT_EQ(one.offsets[1].begin, 2u);
  EXPECT_EQ(one.offsets[1].end, 5u);
  Json each = merging_json({"a", "b"}, merges, false);
  each["model"]["fuse_unk"] = false;
  SmallTokenizer single(each);
  EXPECT_EQ(encode(single.open(), text).ids, (Ids{3, 0, 0, 3}));
  SmallTokenizer bytes(merging_json({"a", "b"}, merges, true));
  const Encoded three = encode(bytes.open(), text);
  EXPECT_EQ(three.ids, (Ids{3, 4 + 'x', 4 + 0xC3, 4 + 0xA9, 3}));
  EXPECT_EQ(three.offsets[2].begin, 3u);  // of the whole character
  EXPECT_EQ(three.offsets[2].end, 5u);
  // Unknown characters are not joined across the end of a window either.
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "\u00e9";
  EXPECT_EQ(encode(fused.open(), many).ids, (Ids{0}));
}

/// Gemma's tokenizer.json has a tab instead of <0x09>.
TEST(Pieces, BytesWhoseLettersAreTokensNeedNone) {
  Json gemma = merging_json({"a", "\t"}, {}, true);
  gemma["model"]["vocab"]["\t"] = gemma["model"]["vocab"]["<0x09>"];
  gemma["model"]["vocab"]["*"] = 2;
  gemma["model"]["vocab"].erase("<0x09>");
  SmallTokenizer small(gemma);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(encode(small.open(), "a\tb").ids, (Ids{1, 3 + 9, 3 + 'b'}));
  // A character is unknown as a whole if the token of one of its bytes is missing.
  Json some = merging_json({"a"}, {}, true);
  some["model"]["fuse_unk"] = false;
  some["model"]["vocab"]["*"] = some["model"]["vocab"]["<0xA9>"];
  some["model"]["vocab"].erase("<0xA9>");
  SmallTokenizer lacks(some);
  ASSERT_TRUE(lacks.ok());
  EXPECT_EQ(encode(lacks.open(), "a\u00e9\u00e9\u00e8").ids, (Ids{1, 0, 0, 2 + 0xC3, 2 + 0xA8}));
}

TEST(Pieces, MarksAndNormalisersAreTheSame) {
  const Pairs merges = {{"\u2581", "a"}};
  Json normal = merging_json({"\u2581", "a"}, merges, false);
  normal["pre_tokenizer"] = nullptr;
  normal["normalizer"] = {{"type", "Sequence"},
                          {"normalizers",
                           {{{"type", "Prepend"}, {"prepend", "\u2581"}},
                            {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}}};
  SmallTokenizer small(normal);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(encode(small.open(), "a a").ids, (Ids{3, 3}));
  EXPECT_EQ(encode(small.open(), " a").ids, (Ids{1, 3}));  // the inserted blank, and the text's own
  Json first = merging_json({"\u2581", "a"}, merges, false);
  first["pre_tokenizer"]["prepend_scheme"] = "first";
  SmallTokenizer own(first);
  EXPECT_EQ(encode(own.open(), " a").ids, (Ids{3}));
}

TEST(Pieces, WhatIsMissingIsNamed) {
  const auto problem_of = [](const Json& json) {
    Folder folder;
    folder.write("tokenizer.json", json.dump());
    const Imported got = import_folder(folder);
    return got.found || got.problems.empty() ? std::string("none") : got.problems.front();
  };
  Json none = merging_json({"a"}, {}, false);
  none["model"]["unk_token"] = nullptr;
  none["model"]["vocab"].erase("<unk>");
  EXPECT_NE(problem_of(none).find("unk_token"), std::string::npos) << problem_of(none);
  Json bytes = merging_json({"a"}, {}, true);
  bytes["model"]["fuse_unk"] = true;
  bytes["model"]["vocab"].erase("<0x41>");
  EXPECT_NE(problem_of(bytes).find("model.byte_fallback: needs"), std::string::npos) << problem_of(bytes);
  Json last = merging_json({"a"}, {}, true);
  last["pre_tokenizer"] = {{"type", "Klingon"}, {"behavior", "Isolated"}};
  EXPECT_NE(problem_of(last).find("pre_tokenizer.type: \"Klingon\" is not supported"), std::string::npos);
}

TEST(Pieces, DamagedTraitsAreRefused) {
  SmallTokenizer small(merging_json({"a"}, {}, true));
  ASSERT_EQ(small.image().verify(), Status::kOk);
  const uint32_t traits = small.description().model->traits;
  for (const uint32_t bad : {2u, 4u, 5u, 0x80000001u}) {
    small.description().model->traits = bad;
    small.image().repack(small.description());
    EXPECT_EQ(small.image().verify(), Status::kUnsupported) << bad;
  }
  small.description().model->traits = 0;  // bytes cannot be combined with metaspace
  small.image().repack(small.description());
  EXPECT_EQ(small.image().verify(), Status::kUnsupported);
  small.description().model->traits = traits;
  const uint64_t at = blob_of(small.description(), fb::BlobName::byte_tokens)->offset();
  small.image().repack(small.description());
  small.image().data()[at + 3] = 0xFF;
  EXPECT_EQ(small.image().verify(), Status::kCorrupt);
}

TEST(Pieces, LongTextsAreReadToTheirEnd) {
  const Pairs merges = {{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}, {"\u2581", "a"}};
  SmallTokenizer small(merging_json({"a", "b", "\u2581"}, merges, true));
  for (const char* piece : {"a", " ", "b", "\u00e9", "a b", "\xff", "e\u0301"}) {
    const Encoded got = encode(small.open(), long_text(piece), nullptr, {}, 1u << 22);
    EXPECT_EQ(got.status, Status::kOk);
    EXPECT_FALSE(got.result.truncated);
  }
}

}  // namespace
}  // namespace bantam::tests
