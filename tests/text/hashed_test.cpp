// Words and hashed n-grams: compared with their definition; settings and tables that are refused; long words.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "tests/text/fixture.h"
#include "text/hashed.h"
#include "tokenizer/tokenizer.h"

namespace bantam::tests {
namespace {

convert::WordList list_of_words() {
  convert::WordList list;
  list.name = "x";
  list.hashed = true;
  list.words = {"the", "</s>", "caf\u00e9", "ab"};
  list.model.buckets = 97;
  list.model.min_gram = 2;
  list.model.max_gram = 4;
  list.model.word_grams = 3;
  list.model.end_word = "</s>";
  list.model.skip_prefix = "__label__";
  return list;
}

struct Opened {
  explicit Opened(convert::WordList list) {
    convert::TokenizerFiles files;
    files.words = std::make_shared<const convert::WordList>(std::move(list));
    std::vector<std::string> problems;
    EXPECT_TRUE(convert::import_tokenizer(files, graph, problems));
    EXPECT_EQ(problems, std::vector<std::string>());
    image = std::make_unique<TokenizerImage>(graph);
  }
  fb::TokenizerT& description() { return *graph.model.tokenizers[0]; }

  convert::Graph graph;
  std::unique_ptr<TokenizerImage> image;
};

uint32_t fnv(const std::string& text) {
  uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<uint32_t>(static_cast<int8_t>(c))) * 16777619U;
  return hash;
}

/// fastText's getLine, as in its paper and source, over the characters of `words`.
std::multiset<int32_t> by_definition(const convert::WordList& list, const std::vector<std::string>& words, bool ends) {
  std::multiset<int32_t> ids;
  const auto count = static_cast<int32_t>(list.words.size());
  const auto bucket = [&](uint64_t hash) { ids.insert(count + static_cast<int32_t>(hash % list.model.buckets)); };
  std::vector<int32_t> hashes;
  std::vector<std::string> all = words;
  if (ends) all.push_back("</s>");
  for (const std::string& word : all) {
    hashes.push_back(static_cast<int32_t>(fnv(word)));
    const auto found = std::find(list.words.begin(), list.words.end(), word);
    if (found != list.words.end()) ids.insert(static_cast<int32_t>(found - list.words.begin()));
    if (word == "</s>") continue;
    const std::string marked = "<" + word + ">";
    std::vector<size_t> begins;
    for (size_t i = 0; i < marked.size(); ++i) {
      if ((static_cast<uint8_t>(marked[i]) & 0xC0U) != 0x80U) begins.push_back(i);
    }
    begins.push_back(marked.size());
    for (size_t i = 0; i + 1 < begins.size(); ++i) {
      for (size_t n = list.model.min_gram; n <= list.model.max_gram && i + n < begins.size(); ++n) {
        if (n == 1 && (i == 0 || i + 2 == begins.size())) continue;
        bucket(fnv(marked.substr(begins[i], begins[i + n] - begins[i])));
      }
    }
  }
  for (size_t i = 0; i < hashes.size(); ++i) {
    auto hash = static_cast<uint64_t>(static_cast<int64_t>(hashes[i]));
    for (size_t j = i + 1; j < hashes.size() && j < i + list.model.word_grams; ++j) {
      hash = hash * 116049371 + static_cast<uint64_t>(static_cast<int64_t>(hashes[j]));
      bucket(hash);
    }
  }
  return ids;
}

TEST(Hashed, IsWhatTheDefinitionSays) {
  for (const uint32_t least : {1U, 2U, 3U}) {
    convert::WordList list = list_of_words();
    list.model.min_gram = least;
    Opened opened(list);
    ASSERT_EQ(opened.image->verify(), Status::kOk);
    const Tokenizer tokenizer = opened.image->open();
    const auto ids = [&](const std::string& text) {
      const Encoded encoded = encode(tokenizer, text);
      EXPECT_EQ(encoded.status, Status::kOk);
      for (const Offset& where : encoded.offsets) EXPECT_LE(where.end, text.size());
      return std::multiset<int32_t>(encoded.ids.begin(), encoded.ids.end());
    };
    EXPECT_EQ(ids("the caf\u00e9 \u96e8 ab unknown"),
              by_definition(list, {"the", "caf\u00e9", "\u96e8", "ab", "unknown"}, true));
    EXPECT_EQ(ids("\t the\vab \n"), by_definition(list, {"the", "ab"}, true));
    EXPECT_EQ(ids("the </s> ab"), by_definition(list, {"the"}, true));
    EXPECT_EQ(ids("the __label__x ab"), by_definition(list, {"the", "ab"}, true));
    EXPECT_EQ(ids(""), by_definition(list, {}, true));
  }
}

TEST(Hashed, NgramsThatAreNotThereAreLeftOut) {
  convert::WordList list = list_of_words();
  const std::multiset<int32_t> all = by_definition(list, {"the", "zzz"}, true);
  list.all_grams = false;
  for (uint32_t i = 0; i < 97; i += 3) list.grams.push_back(i);
  std::multiset<int32_t> wanted;
  for (const int32_t id : all) {
    if (id < 4) wanted.insert(id);
    if (id >= 4 && (id - 4) % 3 == 0) wanted.insert(4 + (id - 4) / 3);
  }
  Opened opened(list);
  ASSERT_EQ(opened.image->verify(), Status::kOk);
  const Encoded encoded = encode(opened.image->open(), "the zzz");
  EXPECT_EQ(std::multiset<int32_t>(encoded.ids.begin(), encoded.ids.end()), wanted);
}

TEST(Hashed, PlainListsOfWordsLeaveOthersOut) {
  convert::WordList list;
  list.name = "x";
  list.words = {"the", "caf\u00e9", ","};
  const auto ids = [](const convert::WordList& of, const std::string& text) {
    Opened opened(of);
    EXPECT_EQ(opened.image->verify(), Status::kOk);
    return encode(opened.image->open(), text).ids;
  };
  EXPECT_EQ(ids(list, "the The, caf\u00e9 the"), (std::vector<int32_t>{0, 1, 0}));
  list.white_space = false;
  EXPECT_EQ(ids(list, "the The, caf\u00e9 zz the"), (std::vector<int32_t>{0, 2, 1, 0}));
  list.lowercase = true;
  EXPECT_EQ(ids(list, "the The, CAF\u00c9"), (std::vector<int32_t>{0, 0, 2, 1}));
  EXPECT_EQ(ids(list, ""), std::vector<int32_t>());
  EXPECT_EQ(ids(list, std::string(5000, 'x') + " the"), std::vector<int32_t>{0});
}

TEST(Hashed, LongWordsTakeTimeThatGrowsWithThem) {
  Opened opened(list_of_words());
  EncodeResult result;
  EXPECT_EQ(count_tokens(opened.image->open(), long_text("x"), &result), Status::kOk);
}

TEST(Hashed, RefusesWhatItDoesNotExecute) {
  using T = fb::TokenizerT;
  const std::pair<Status, std::function<void(T&)>> damages[] = {
      {Status::kUnsupported, [](T& t) { t.model->max_gram = 65; }},
      {Status::kUnsupported, [](T& t) { t.model->word_grams = 17; }},
      {Status::kCorrupt, [](T& t) { t.model->min_gram = 0; }},
      {Status::kCorrupt, [](T& t) { t.model->min_gram = 5; }},
      {Status::kCorrupt, [](T& t) { t.model->buckets = 0xFFFFFFFF; }},
      {Status::kUnsupported, [](T& t) { t.normalizers.push_back(std::make_unique<fb::NormalizerT>()); }},
      {Status::kUnsupported, [](T& t) { t.splitters[0]->kind = fb::SplitterKind::pattern; }},
      {Status::kUnsupported, [](T& t) { t.model->kind = fb::TokenModelKind::unigram; }}};
  size_t number = 0;
  for (const auto& [status, apply] : damages) {
    Opened opened(list_of_words());
    apply(opened.description());
    opened.image->repack(opened.description());
    EXPECT_EQ(opened.image->verify(), status) << number++;
  }
  convert::WordList list = list_of_words();
  list.all_grams = false;
  for (const std::vector<uint32_t>& grams : {std::vector<uint32_t>{3, 2}, {3, 3}, {97}}) {
    list.grams = grams;
    EXPECT_EQ(Opened(list).image->verify(), Status::kCorrupt);
  }
}

TEST(Hashed, RefusesTablesOfOtherSizes) {
  convert::WordList list = list_of_words();
  list.all_grams = false;
  list.grams = {1, 2, 3};
  Opened opened(list);
  ASSERT_EQ(opened.image->verify(), Status::kOk);
  // Sizes of 2^31 numbers that are not really there, so nothing may read them.
  constexpr uint64_t kSizes[] = {3 * sizeof(uint32_t) - 1, uint64_t{1} << 33};
  const char* const sentences[] = {"the table of n-grams ends within a number", "n-grams are too many"};
  auto& blob = blob_of(opened.description(), fb::BlobName::buckets);
  for (size_t i = 0; i < 2; ++i) {
    blob = std::make_unique<fb::Blob>(blob->offset(), kSizes[i], 0, 0);
    opened.image->repack(opened.description());
    Fault fault;
    EXPECT_EQ(text::verify_tokenizer(opened.image->table(), opened.image->data(), uint64_t{1} << 34, &fault),
              Status::kCorrupt);
    EXPECT_STREQ(fault.what, sentences[i]);
  }
}

}  // namespace
}  // namespace bantam::tests
