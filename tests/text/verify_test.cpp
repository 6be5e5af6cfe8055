// verify_tokenizer refuses every inconsistency, and tables that it accepts are never read out of bounds.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "tests/text/vocabulary.h"
#include "text/lexicon.h"

namespace bantam::tests {
namespace {

const std::vector<std::string> kTokens = {"a", "b", "##a", "##b", "ab", "the", "there", "\u4e2d", "caf", "##\u00e9e"};

std::unique_ptr<fb::Blob> blob(uint64_t offset, uint64_t size, uint32_t segment = 0) {
  return std::make_unique<fb::Blob>(offset, size, segment, 0);
}

std::unique_ptr<fb::Blob>& trie(fb::TokenizerT& t) { return blob_of(t, fb::BlobName::trie); }
std::unique_ptr<fb::Blob>& roots(fb::TokenizerT& t) { return blob_of(t, fb::BlobName::roots); }
std::unique_ptr<fb::Blob>& words(fb::TokenizerT& t) { return blob_of(t, fb::BlobName::words); }

struct Damage {
  const char* name;
  std::function<void(fb::TokenizerT&)> apply;
  Status status;
};

/// Pads single texts with token `pad` to `length`.
void fill(fb::TokenizerT& t, int32_t pad, uint32_t length) {
  t.single.emplace_back(-1, 2, 0);
  t.pad_id = pad;
  t.max_length = length;
}

TEST(VerifyTokenizer, AcceptsWhatTheConverterMakes) {
  SmallTokenizer small(kTokens);
  ASSERT_TRUE(small.ok());
  Fault fault;
  EXPECT_EQ(small.image().verify(&fault), Status::kOk) << fault.what;
  fill(small.description(), 0, 8);
  small.image().repack(small.description());
  EXPECT_EQ(small.image().verify(&fault), Status::kOk) << fault.what;
}

TEST(VerifyTokenizer, RefusesInconsistentDescriptions) {
  using T = fb::TokenizerT;
  const Damage damages[] = {
      {"model", [](T& t) { t.model->kind = static_cast<fb::TokenModelKind>(9); }, Status::kUnsupported},
      {"no model", [](T& t) { t.model = nullptr; }, Status::kUnsupported},
      {"normalizer", [](T& t) { t.normalizers[0]->kind = static_cast<fb::NormalizerKind>(9); }, Status::kUnsupported},
      {"two normalizers", [](T& t) { t.normalizers.push_back(std::make_unique<fb::NormalizerT>()); },
       Status::kUnsupported},
      {"splitter", [](T& t) { t.splitters[0]->kind = static_cast<fb::SplitterKind>(9); }, Status::kUnsupported},
      {"no splitter", [](T& t) { t.splitters.clear(); }, Status::kUnsupported},
      {"two splitters", [](T& t) { t.splitters.push_back(std::make_unique<fb::SplitterT>()); }, Status::kUnsupported},
      {"no blobs", [](T& t) { t.blobs.clear(); }, Status::kCorrupt},
      {"blobs out of order", [](T& t) { std::swap(t.blobs[0], t.blobs[1]); }, Status::kCorrupt},
      {"a blob twice", [](T& t) { t.blobs[1]->name = fb::BlobName::token_text; }, Status::kCorrupt},
      {"word length", [](T& t) { t.model->max_word_chars = 201; }, Status::kUnsupported},
      {"vocabulary 0", [](T& t) { t.vocab_size = 0; }, Status::kCorrupt},
      {"vocabulary + 1", [](T& t) { ++t.vocab_size; }, Status::kCorrupt},
      {"vocabulary huge", [](T& t) { t.vocab_size = 0xFFFFFFFF; }, Status::kCorrupt},
      {"unknown", [](T& t) { t.model->unknown_id = -1; }, Status::kCorrupt},
      {"hidden beyond the vocabulary", [](T& t) { t.model->hidden_from = t.vocab_size + 1; }, Status::kCorrupt},
      {"the unknown one hidden", [](T& t) { t.model->hidden_from = static_cast<uint32_t>(t.model->unknown_id); },
       Status::kCorrupt},
      {"pad", [](T& t) { t.pad_id = 1000; }, Status::kCorrupt},
      {"mask", [](T& t) { t.mask_id = -2; }, Status::kCorrupt},
      {"truncation", [](T& t) { t.truncation = static_cast<fb::Truncation>(9); }, Status::kCorrupt},
      {"no trie", [](T& t) { trie(t).reset(); }, Status::kCorrupt},
      {"no text", [](T& t) { blob_of(t, fb::BlobName::token_text).reset(); }, Status::kCorrupt},
      {"trie beyond", [](T& t) { trie(t) = blob(1u << 20, trie(t)->size()); }, Status::kCorrupt},
      {"trie wraps", [](T& t) { trie(t) = blob(UINT64_MAX - 3, trie(t)->size()); }, Status::kCorrupt},
      {"trie misaligned", [](T& t) { trie(t) = blob(trie(t)->offset() + 2, trie(t)->size() - 1024); },
       Status::kCorrupt},
      {"trie short", [](T& t) { trie(t) = blob(trie(t)->offset(), 512); }, Status::kCorrupt},
      {"trie empty", [](T& t) { trie(t) = blob(trie(t)->offset(), 0); }, Status::kCorrupt},
      {"segment", [](T& t) { trie(t) = blob(trie(t)->offset(), trie(t)->size(), 1); }, Status::kCorrupt},
      {"roots", [](T& t) { roots(t) = blob(roots(t)->offset(), 8); }, Status::kCorrupt},
      {"words cut", [](T& t) { words(t) = blob(words(t)->offset(), words(t)->size() - 16); }, Status::kCorrupt},
      {"words short", [](T& t) { words(t) = blob(words(t)->offset(), 4); }, Status::kCorrupt},
      {"words beyond", [](T& t) { words(t) = blob(1u << 20, words(t)->size()); }, Status::kCorrupt},
      {"prefix", [](T& t) { t.model->continuing_prefix = "#"; }, Status::kCorrupt},
      {"added id", [](T& t) { t.added_tokens[0]->id = 99; }, Status::kCorrupt},
      {"added order", [](T& t) { std::swap(t.added_tokens[0], t.added_tokens[1]); }, Status::kCorrupt},
      {"added empty", [](T& t) { t.added_tokens[0]->text.clear(); }, Status::kCorrupt},
      {"added none", [](T& t) { t.added_tokens.clear(); }, Status::kCorrupt},
      {"no template", [](T& t) { t.single.clear(); }, Status::kCorrupt},
      {"no second text", [](T& t) { t.pair = t.single; }, Status::kCorrupt},
      {"second text in single", [](T& t) { t.single = t.pair; }, Status::kCorrupt},
      {"template token", [](T& t) { t.single[0] = fb::TemplatePiece(500, 0, 0); }, Status::kCorrupt},
      {"template sequence", [](T& t) { t.single[1] = fb::TemplatePiece(-1, 3, 0); }, Status::kCorrupt},
      {"fill without length", [](T& t) { fill(t, t.pad_id, 0); }, Status::kCorrupt},
      {"fill without token", [](T& t) { fill(t, -1, 8); }, Status::kCorrupt},
      {"fill in the middle",
       [](T& t) {
         fill(t, t.pad_id, 8);
         t.single.emplace_back(t.sep_id, 0, 0);
       },
       Status::kCorrupt},
      {"fill instead of a text",
       [](T& t) {
         fill(t, t.pad_id, 8);
         t.single[1] = t.single[0];
       },
       Status::kCorrupt},
      {"template marker", [](T& t) { t.single[0] = fb::TemplatePiece(-2, 0, 0); }, Status::kCorrupt},
      {"template long", [](T& t) { t.single.resize(65, fb::TemplatePiece(2, 0, 0)); }, Status::kCorrupt},
  };
  for (const Damage& damage : damages) {
    SmallTokenizer small(kTokens);
    damage.apply(small.description());
    small.image().repack(small.description());
    Fault fault;
    EXPECT_EQ(small.image().verify(&fault), damage.status) << damage.name << ": " << fault.what;
    EXPECT_NE(fault.what[0], '\0') << damage.name;
  }
}

TEST(VerifyTokenizer, RefusesInconsistentTablesOfWords) {
  SmallTokenizer small(kTokens);
  ASSERT_TRUE(small.ok());
  uint8_t* table = small.image().data() + words(small.description())->offset();
  const auto with = [&](size_t at, uint32_t value) {
    uint32_t before = 0;
    std::memcpy(&before, table + at, sizeof(before));
    std::memcpy(table + at, &value, sizeof(value));
    const Status status = small.image().verify();
    std::memcpy(table + at, &before, sizeof(before));
    return status;
  };
  EXPECT_EQ(with(0, 32), Status::kCorrupt) << "buckets";
  EXPECT_EQ(with(0, 20), Status::kCorrupt) << "buckets";
  EXPECT_EQ(with(4, 0), Status::kCorrupt) << "homes";
  EXPECT_EQ(with(4, 0xFFFFFFFF), Status::kCorrupt) << "homes";
  EXPECT_EQ(small.image().verify(), Status::kOk);
  // A file may omit the table.
  fb::TokenizerT& description = small.description();
  const std::string text = "The ABBA, there; x" + std::string(80, 'b') + "\u4e2d caf\u00e9e";
  const Encoded with_table = encode(small.open(), text);
  ASSERT_EQ(description.blobs[4]->name, fb::BlobName::words);
  description.blobs.erase(description.blobs.begin() + 4);
  small.image().repack(description);
  ASSERT_EQ(small.image().verify(), Status::kOk);
  EXPECT_EQ(encode(small.open(), text).ids, with_table.ids);
}

TEST(VerifyTokenizer, DamagedTablesAreRefusedOrHarmless) {
  std::mt19937 dice(7);
  const std::string text = "the there abba caf\u00e9e \u4e2d\u6587 [MASK] x \xff a" + std::string(150, 'b');
  int accepted = 0;
  SmallTokenizer small(kTokens);
  ASSERT_TRUE(small.ok());
  for (int round = 0; round < 1000; ++round) {
    const fb::Blob& table = *small.description().blobs[static_cast<size_t>(round) % 5]->data;
    // An exact copy on the heap, so that a sanitizer detects any read beyond it.
    std::vector<uint64_t> copy(small.image().data_size() / 8);
    std::memcpy(copy.data(), small.image().data(), copy.size() * 8);
    auto* bytes = reinterpret_cast<uint8_t*>(copy.data()) + table.offset();
    const auto changes = dice() % 3 + 1;
    for (size_t i = 0; i < changes; ++i) {
      bytes[dice() % table.size()] = static_cast<uint8_t>(dice() % 4 == 0 ? 0xFF : dice());
    }
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
  EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace bantam::tests
