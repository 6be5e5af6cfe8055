// Tables of byte-level BPE: inconsistent ones are refused; those that open are safe and need time proportional to the
// text.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "tests/text/bpe_vocabulary.h"
#include "text/merge_table.h"
#include "text/split_table.h"

namespace bantam::tests {
namespace {

const Merges kMerges = {{"a", "b"}, {" ", "ab"}, {"b", "a"}, {"ab", "ab"}, {"a", "a"}, {"aa", "a"}, {"\xc3", "\xa9"}};
constexpr size_t kEntry = 261;  // "ba"

template <typename Value>
Status with(SmallTokenizer& small, fb::BlobName name, size_t at, Value value) {
  uint8_t* place = small.image().data() + blob_of(small.description(), name)->offset() + at;
  Value before;
  std::memcpy(&before, place, sizeof(before));
  std::memcpy(place, &value, sizeof(value));
  const Status status = small.image().verify();
  std::memcpy(place, &before, sizeof(before));
  return status;
}

TEST(VerifyBpe, RefusesInconsistentTables) {
  using Name = fb::BlobName;
  SmallTokenizer small(bpe_json(kMerges));
  ASSERT_TRUE(small.ok());
  ASSERT_EQ(small.image().verify(), Status::kOk);
  const size_t entry = kEntry * sizeof(text::MergeEntry);
  EXPECT_EQ(with<uint32_t>(small, Name::merges, entry, 9999), Status::kCorrupt) << "left";
  EXPECT_EQ(with<uint32_t>(small, Name::merges, entry + 4, 9999), Status::kCorrupt) << "right";
  EXPECT_EQ(with<uint32_t>(small, Name::merges, entry, kEntry), Status::kCorrupt) << "made of itself";
  EXPECT_EQ(with<uint32_t>(small, Name::merges, entry + 8, 0), Status::kCorrupt) << "rank of a byte";
  EXPECT_EQ(with<uint32_t>(small, Name::merges, entry + 8, text::kNeverMade), Status::kCorrupt) << "never made";
  EXPECT_EQ(with<uint32_t>(small, Name::merges, entry + 12, 9999), Status::kCorrupt) << "shorter";
  EXPECT_EQ(with<uint32_t>(small, Name::pairs, 0, 25), Status::kCorrupt) << "bits";
  EXPECT_EQ(with<uint32_t>(small, Name::pairs, 0, 1), Status::kCorrupt) << "bits";
  EXPECT_EQ(with<uint32_t>(small, Name::split, 0, 5), Status::kUnsupported) << "version";
  for (const uint32_t value : {0u, 1u, 257u, 0xFFFFFFFFu}) {
    EXPECT_EQ(with<uint32_t>(small, Name::split, 4, value), Status::kCorrupt) << "stride " << value;
    EXPECT_EQ(with<uint32_t>(small, Name::split, 8, value), Status::kCorrupt) << "states " << value;
    EXPECT_EQ(with<uint32_t>(small, Name::split, 12, value == 1 ? 2 : value), Status::kCorrupt) << "blocks " << value;
  }
  const uint8_t* table = small.image().data() + blob_of(small.description(), Name::split)->offset();
  const auto& header = *reinterpret_cast<const text::SplitHeader*>(table);
  const size_t next = text::split_next_offset(header.blocks);
  EXPECT_EQ(with<uint8_t>(small, Name::split, sizeof(header), 200), Status::kCorrupt) << "class of ASCII";
  EXPECT_EQ(with<uint8_t>(small, Name::split, sizeof(header) + 128, 255), Status::kCorrupt) << "block";
  EXPECT_EQ(with<uint8_t>(small, Name::split, next - 1, 200), Status::kCorrupt) << "class";
  EXPECT_EQ(with<uint16_t>(small, Name::split, next, 0x8000), Status::kCorrupt) << "behind the end";
  const size_t start = next + size_t{2} * header.stride;
  EXPECT_EQ(with<uint16_t>(small, Name::split, start + 2, 1), Status::kCorrupt) << "between states";
  EXPECT_EQ(with<uint16_t>(small, Name::split, start + 2, 0x7FFF), Status::kCorrupt) << "no state";
  EXPECT_EQ(with<uint16_t>(small, Name::split, start, static_cast<uint16_t>(header.stride)), Status::kCorrupt)
      << "on at the end";
  EXPECT_EQ(small.image().verify(), Status::kOk);
}

TEST(VerifyBpe, RefusesWhatDoesNotGoTogether) {
  using T = fb::TokenizerT;
  const std::pair<const char*, std::function<void(T&)>> damages[] = {
      {"BERT's splitter", [](T& t) { t.splitters[0]->kind = fb::SplitterKind::bert; }},
      {"hashed words", [](T& t) { t.model->kind = fb::TokenModelKind::hashed; }},
      {"normalizer", [](T& t) { t.normalizers.push_back(std::make_unique<fb::NormalizerT>()); }}};
  for (const auto& [name, apply] : damages) {
    SmallTokenizer small(bpe_json(kMerges));
    apply(small.description());
    small.image().repack(small.description());
    EXPECT_EQ(small.image().verify(), Status::kUnsupported) << name;
  }
  for (const auto name : {fb::BlobName::merges, fb::BlobName::pairs, fb::BlobName::split}) {
    SmallTokenizer small(bpe_json(kMerges));
    auto& blob = blob_of(small.description(), name);
    blob = std::make_unique<fb::Blob>(blob->offset(), 2, 0, 0);
    small.image().repack(small.description());
    EXPECT_EQ(small.image().verify(), Status::kCorrupt) << fb::EnumNameBlobName(name);
  }
}

constexpr int kDamages = testing::rounds(1500, 300);

void damage(const nlohmann::json& json) {
  std::mt19937 dice(5);
  std::string text = "abab aaaa  \u00e9\u00e8 a's \xff <mask> 12";
  for (int i = 0; i < 1200; ++i) text += "ab"[dice() % 2];
  int accepted = 0;
  SmallTokenizer small(json);
  ASSERT_TRUE(small.ok());
  for (int round = 0; round < kDamages; ++round) {
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
    for (uint32_t id = 0; id < tokenizer.vocab_size(); ++id) tokenizer.id(tokenizer.token(id));
  }
  EXPECT_GT(accepted, kDamages / 8);
}

TEST(VerifyBpe, DamagedTablesAreRefusedOrHarmless) {
  nlohmann::json json = bpe_json(kMerges);
  damage(json);
  std::reverse(json["model"]["merges"].begin(), json["model"]["merges"].end());
  damage(json);
  json["model"]["vocab"].erase("x");
  json["model"]["vocab"]["<none>"] = 1000;
  json["model"]["unk_token"] = "<none>";
  damage(json);
}

/// Returns the number of tokens of a long text. Each of these took minutes when work was repeated for each byte.
uint32_t count(const nlohmann::json& json, const std::string& piece, size_t size = testing::kLongText) {
  SmallTokenizer small(json);
  EXPECT_TRUE(small.ok());
  EncodeResult result;
  EXPECT_EQ(count_tokens(small.open(), long_text(piece, size), &result), Status::kOk);
  return result.content[0];
}

TEST(LinearBpe, LongWordsAndRuns) {
  for (const char* piece : {"a", "ab", "aab", " ", "\n", "\n ", "'", "\u00e9", "e\u0301", "\xff", "a1 "}) {
    EXPECT_GT(count(bpe_json(kMerges), piece), 0u) << piece;
  }
}

TEST(LinearBpe, ChainsOfMergesThatPromiseMore) {
  // Each token begins with the previous one; the longest that fits is nearly always wrong.
  Merges chain = {{"b", "a"}};
  std::string token = "a";
  for (int i = 0; i < 400; ++i) {
    chain.emplace_back(token, "a");
    token += "a";
  }
  EXPECT_GT(count(whole_text_json(chain), "a", testing::kLongText / 8), 0u);
  EXPECT_GT(count(whole_text_json(chain), std::string(300, 'a') + "b", testing::kLongText / 8), 0u);
}

TEST(LinearBpe, MergesInAnyOrder) {
  nlohmann::json json = whole_text_json(kMerges);
  std::reverse(json["model"]["merges"].begin(), json["model"]["merges"].end());
  for (const char* piece : {"a", "ab", "aab"}) EXPECT_GT(count(json, piece, testing::kLongText / 4), 0u) << piece;
}

TEST(LinearBpe, PatternsThatLookFarAhead) {
  nlohmann::json json = bpe_json(kMerges);
  json["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers",
                            {{{"type", "Split"}, {"pattern", {{"Regex", "a*b|[\\s\\S]"}}}, {"behavior", "Isolated"}},
                             {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  EXPECT_GT(count(json, "a"), 0u);
}

}  // namespace
}  // namespace bantam::tests
