// SentencePiece's unigram model: compared with the best segmentation of a word by definition; tables that are refused;
// long words.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "tests/text/vocabulary.h"
#include "text/unigram.h"

namespace bantam::tests {
namespace {

using Json = nlohmann::json;
using Pieces = std::vector<std::pair<std::string, double>>;

/// An importable tokenizer.json: <unk> with id 0, then these pieces.
Json unigram_json(const Pieces& pieces, bool fallback = false) {
  Json vocabulary = Json::array({Json::array({"<unk>", 0.0})});
  for (const auto& [piece, score] : pieces) vocabulary.push_back({piece, score});
  for (int byte = 0; fallback && byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    vocabulary.push_back({name, -9.0});
  }
  Json json;
  json["model"] = {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}, {"byte_fallback", fallback}};
  json["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
  return json;
}

const Pieces kPieces = {{"\u2581", -2.0}, {"a", -1.5},         {"b", -1.75},      {"ab", -2.5},  {"\u2581ab", -3.0},
                        {"ba", -2.25},    {"\u2581the", -1.0}, {"aaaa", -2.0625}, {"\u00e9", -4}};

/// Returns the ids of a word by definition, with sums from the left over all segmentations, O(n^2).
std::vector<int32_t> by_definition(const Pieces& pieces, const std::string& word) {
  double least = 0;
  for (const auto& piece : pieces) least = std::min(least, piece.second);
  struct End {
    double sum = -std::numeric_limits<double>::infinity();
    size_t start = 0;
    int32_t id = 0;
  };
  std::vector<End> ends(word.size() + 1);
  ends[0].sum = 0;
  for (size_t at = 0; at < word.size(); ++at) {
    bool single = false;
    for (size_t end = at + 1; end <= std::min(word.size(), at + 6); ++end) {  // pieces have at most 6 bytes
      const std::string part = word.substr(at, end - at);
      for (size_t i = 0; i < pieces.size(); ++i) {
        if (pieces[i].first != part) continue;
        single = single || end == at + 1;
        if (ends[at].sum + pieces[i].second > ends[end].sum) {
          ends[end] = {ends[at].sum + pieces[i].second, at, static_cast<int32_t>(i) + 1};
        }
      }
    }
    if (!single && ends[at].sum + least - 10 > ends[at + 1].sum) ends[at + 1] = {ends[at].sum + (least - 10), at, 0};
  }
  std::vector<int32_t> ids;
  for (size_t at = word.size(); at > 0; at = ends[at].start) {
    if (ends[at].id != 0 || ids.empty() || ids.back() != 0) ids.push_back(ends[at].id);
  }
  std::reverse(ids.begin(), ids.end());
  return ids;
}

TEST(Unigram, IsTheBestWayByTheDefinition) {
  std::mt19937 dice(7);
  for (int round = 0; round < 40; ++round) {
    Pieces pieces = {{"a", -1.0}};
    for (int i = 0; i < 8; ++i) {
      std::string piece;
      for (size_t size = dice() % 5 + 2; size > 0; --size) piece += "ab"[dice() % 2];
      const auto same = [&piece](const auto& other) { return other.first == piece; };
      if (std::any_of(pieces.begin(), pieces.end(), same)) continue;
      pieces.emplace_back(piece, -static_cast<double>(dice() % 64) / 8);
    }
    Json json = unigram_json(pieces);
    json["pre_tokenizer"]["prepend_scheme"] = "never";
    SmallTokenizer small(json);
    ASSERT_TRUE(small.ok());
    for (const size_t size : std::initializer_list<size_t>{1, 2, 9, 100, 255, 256, 257, 1000, 5000}) {
      std::string word;
      while (word.size() < size) word += "abc"[dice() % (round % 3 == 0 ? 3 : 2)];
      EXPECT_EQ(encode(small.open(), word).ids, by_definition(pieces, word)) << size;
    }
  }
}

TEST(Unigram, WordsOffsetsAndUnknown) {
  SmallTokenizer small(unigram_json(kPieces));
  ASSERT_TRUE(small.ok());
  const Tokenizer tokenizer = small.open();
  const Encoded got = encode(tokenizer, "the ab xyab\u2581the");
  ASSERT_EQ(got.ids, (std::vector<int32_t>{7, 5, 1, 0, 4, 7}));
  const std::vector<std::pair<uint32_t, uint32_t>> want = {{0, 3}, {3, 6}, {6, 7}, {7, 9}, {9, 11}, {11, 17}};
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(std::make_pair(got.offsets[i].begin, got.offsets[i].end), want[i]) << i;
  }
  bool continues = true;
  EXPECT_EQ(tokenizer.piece(7, &continues).size, 3u);
  EXPECT_FALSE(continues);
  SmallTokenizer bytes(unigram_json(kPieces, true));
  ASSERT_TRUE(bytes.ok());
  const Encoded fallen = encode(bytes.open(), "ab\u4e2d");
  EXPECT_EQ(fallen.ids, (std::vector<int32_t>{5, 10 + 0xE4, 10 + 0xB8, 10 + 0xAD}));
  EXPECT_EQ(fallen.offsets[1].begin, 2u);
  EXPECT_EQ(fallen.offsets[1].end, 5u);
}

/// Each word of the splitters before Metaspace is a text for it.
TEST(Unigram, MayStandBehindOtherSplitters) {
  Json json = unigram_json({{"\u2581", -2.0}, {"a", -1.5}, {"\u2581a", -2.5}, {"\u2581-", -3.0}});
  json["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "Punctuation"}, {"behavior", "Isolated"}}, json["pre_tokenizer"]}}};
  json["normalizer"] = {{"type", "BertNormalizer"}};
  SmallTokenizer small(json);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small.image().verify(), Status::kOk);
  const Encoded got = encode(small.open(), "a-\u00c1a A");
  EXPECT_EQ(got.ids, (std::vector<int32_t>{3, 4, 3, 2, 3}));
  ASSERT_EQ(got.offsets.size(), 5u);
  EXPECT_EQ(got.offsets[2].begin, 2u);
  EXPECT_EQ(got.offsets[4].end, 7u);
  json["pre_tokenizer"]["pretokenizers"][1]["prepend_scheme"] = "first";
  SmallTokenizer first(json);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(encode(first.open(), "a-a").ids, (std::vector<int32_t>{3, 0, 2}));
  // Old tables do not say whether others follow.
  const uint64_t at = blob_of(small.description(), fb::BlobName::split)->offset();
  auto* header = reinterpret_cast<uint32_t*>(small.image().data() + at);
  ASSERT_EQ(*header, 2u);
  *header = 1;
  EXPECT_NE(small.image().verify(), Status::kOk);
}

/// Marks are not blanks; unknown text keeps the blanks of the text, however long its word is.
TEST(Unigram, LeavesBlanksOfTheTextOutOfOffsets) {
  Json json = unigram_json({{"\u2581", -2.0}, {"a", -1.5}, {"\u2581a\n", -2.5}});
  json["post_processor"] = {
      {"type", "RobertaProcessing"}, {"sep", {"a", 2}}, {"cls", {"a", 2}}, {"trim_offsets", true}};
  SmallTokenizer small(json);
  ASSERT_TRUE(small.ok());
  const Encoded got = encode(small.open(), "a\na \u3000xx\n");
  EXPECT_EQ(got.ids, (std::vector<int32_t>{2, 3, 2, 1, 0, 2}));
  ASSERT_EQ(got.offsets.size(), 6u);
  const auto range = [](const Offset& offset) { return std::pair(offset.begin, offset.end); };
  EXPECT_EQ(range(got.offsets[1]), std::pair(0u, 1u));
  EXPECT_EQ(range(got.offsets[3]), std::pair(3u, 4u));
  EXPECT_EQ(range(got.offsets[4]), std::pair(7u, 9u));
  const std::string letters = long_text("a", 600);
  const Encoded long_word = encode(small.open(), letters + "\u3000xx\n");
  ASSERT_GT(long_word.offsets.size(), 2u);
  EXPECT_EQ(range(long_word.offsets[long_word.offsets.size() - 2]), std::pair(603u, 605u));
}

TEST(Unigram, NamesWhatIsWrong) {
  const auto problem_of = [](const std::function<void(Json&)>& damage) {
    Json json = unigram_json(kPieces);
    damage(json);
    Folder folder;
    folder.write("tokenizer.json", json.dump());
    const Imported got = import_folder(folder);
    EXPECT_FALSE(got.found);
    return got.problems.empty() ? "none" : got.problems[0];
  };
  const std::pair<std::function<void(Json&)>, const char*> cases[] = {
      {[](Json& j) { j["model"]["vocab"][3][1] = "x"; }, "model.vocab[3]: should be a token and its score"},
      {[](Json& j) { j["model"]["vocab"][3][1] = nullptr; }, "model.vocab[3]: should be a token and its score"},
      {[](Json& j) { j["model"]["vocab"][3] = j["model"]["vocab"][2]; }, "stands there twice, the second time as 3"},
      {[](Json& j) { j["model"]["vocab"] = Json::object(); }, "model.vocab: should be a list"},
      {[](Json& j) { j["model"]["vocab"] = Json::array(); }, "model.vocab: should be a list"},
      {[](Json& j) { j["model"]["unk_id"] = -1; }, "model.unk_id"},
      {[](Json& j) { j["model"]["unk_id"] = 99; }, "model.unk_id"},
      {[](Json& j) { j["model"]["unk_id"] = nullptr; }, "model.unk_id"},
      {[](Json& j) {
         j["model"]["byte_fallback"] = true;
         j["model"]["vocab"].push_back({"<0x41>", -3.0});
       },
       "model.byte_fallback: needs a token for each byte of unknown text, and <0x00>"},
      {[](Json& j) { j["model"]["vocab"][3][0] = std::string(300, 'a'); }, "255 bytes"},
      {[](Json& j) {
         j["pre_tokenizer"] = {{"type", "ByteLevel"}};
       },
       "pre_tokenizer.type: \"ByteLevel\""},
      {[](Json& j) { j["pre_tokenizer"]["replacement"] = "_"; }, "pre_tokenizer.replacement"},
      {[](Json& j) { j["pre_tokenizer"]["prepend_scheme"] = "often"; }, "pre_tokenizer.prepend_scheme"}};
  for (const auto& [damage, words] : cases) {
    const std::string problem = problem_of(damage);
    EXPECT_NE(problem.find(words), std::string::npos) << problem;
  }
}

TEST(Unigram, RefusesInconsistentTables) {
  SmallTokenizer small(unigram_json(kPieces, true));
  ASSERT_TRUE(small.ok());
  ASSERT_EQ(small.image().verify(), Status::kOk);
  const auto with = [&](fb::BlobName name, size_t at, uint32_t value) {
    uint8_t* place = small.image().data() + blob_of(small.description(), name)->offset() + at;
    uint32_t before = 0;
    std::memcpy(&before, place, 4);
    std::memcpy(place, &value, 4);
    const Status status = small.image().verify();
    std::memcpy(place, &before, 4);
    return status;
  };
  EXPECT_EQ(with(fb::BlobName::scores, 8, 0x7FC00000), Status::kCorrupt) << "not a number";
  EXPECT_EQ(with(fb::BlobName::scores, 8, 0xFF800000), Status::kCorrupt) << "infinite";
  EXPECT_EQ(with(fb::BlobName::byte_tokens, 8, 9999), Status::kCorrupt) << "no token";
  using T = fb::TokenizerT;
  const std::pair<Status, std::function<void(T&)>> damages[] = {
      {Status::kCorrupt, [](T& t) { t.model->unknown_id = -1; }},
      {Status::kCorrupt, [](T& t) { t.model->unknown_score = std::numeric_limits<double>::quiet_NaN(); }},
      {Status::kUnsupported, [](T& t) { t.splitters[0]->kind = fb::SplitterKind::bert; }},
      {Status::kUnsupported, [](T& t) { t.splitters[0]->kind = fb::SplitterKind::pattern; }},
      {Status::kUnsupported, [](T& t) { t.model->kind = fb::TokenModelKind::wordpiece; }},
      {Status::kUnsupported, [](T& t) { t.normalizers.push_back(std::make_unique<fb::NormalizerT>()); }},
      {Status::kCorrupt, [](T& t) {
         auto& blob = blob_of(t, fb::BlobName::scores);
         blob = std::make_unique<fb::Blob>(blob->offset(), 8, 0, 0);
       }}};
  size_t number = 0;
  for (const auto& [status, apply] : damages) {
    SmallTokenizer fresh(unigram_json(kPieces));
    apply(fresh.description());
    fresh.image().repack(fresh.description());
    EXPECT_EQ(fresh.image().verify(), status) << number;
    ++number;
  }
}

TEST(Unigram, DamagedTablesAreRefusedOrHarmless) {
  std::mt19937 dice(5);
  std::string text = "abab the aaaa  \u00e9\u00e8 a's \xff ";
  for (int i = 0; i < 600; ++i) text += "ab"[dice() % 2];
  int accepted = 0;
  SmallTokenizer small(unigram_json(kPieces, true));
  ASSERT_TRUE(small.ok());
  for (int round = 0; round < 1000; ++round) {
    const auto& blobs = small.description().blobs;
    const fb::Blob& table = *blobs[static_cast<size_t>(round) % blobs.size()]->data;
    std::vector<uint64_t> copy(small.image().data_size() / 8);
    std::memcpy(copy.data(), small.image().data(), copy.size() * 8);
    auto* bytes = reinterpret_cast<uint8_t*>(copy.data()) + table.offset();
    for (size_t i = dice() % 3 + 1; i-- > 0;) bytes[dice() % table.size()] = static_cast<uint8_t>(dice());
    const auto* data = reinterpret_cast<const uint8_t*>(copy.data());
    if (text::verify_tokenizer(small.image().table(), data, copy.size() * 8, nullptr) != Status::kOk) continue;
    ++accepted;
    const Tokenizer tokenizer = text::open_tables(small.image().table(), data);
    const Encoded got = encode(tokenizer, text);
    EXPECT_EQ(got.status, Status::kOk);
    for (const int32_t id : got.ids) EXPECT_LT(static_cast<uint32_t>(id), tokenizer.vocab_size());
    for (const Offset offset : got.offsets) EXPECT_LE(offset.end, text.size());
  }
  EXPECT_GT(accepted, 100);
}

TEST(LinearUnigram, LongWords) {
  for (const bool fallback : {false, true}) {
    SmallTokenizer small(unigram_json(kPieces, fallback));
    ASSERT_TRUE(small.ok());
    for (const char* piece : {"a", "ab", " ", "\u00e9", "\u0301", "\u4e2d", "x", "\xff", "the "}) {
      EncodeResult result;
      EXPECT_EQ(count_tokens(small.open(), long_text(piece), &result), Status::kOk);
      EXPECT_GT(result.content[0], 0u) << piece;
    }
  }
}

}  // namespace
}  // namespace bantam::tests
