// Rules of verify_tokenizer by their sentences: what breaks one is refused with that one, whatever others would say of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "tests/text/bpe_vocabulary.h"
#include "text/code_table.h"
#include "text/lexicon.h"
#include "text/split_table.h"
#include "text/word_table.h"

namespace bantam::tests {
namespace rules_test {

constexpr auto kCorrupt = Status::kCorrupt;
constexpr auto kUnsupported = Status::kUnsupported;

struct Rule {
  const char* sentence;
  Status status;
  std::function<void(SmallTokenizer&)> apply;
};

/// Breaks a rule by an edit of the description.
std::function<void(SmallTokenizer&)> described(const std::function<void(fb::TokenizerT&)>& edit) {
  return [edit](SmallTokenizer& small) {
    edit(small.description());
    small.image().repack(small.description());
  };
}

/// Breaks a rule by storing a number `at` bytes into a table.
std::function<void(SmallTokenizer&)> stored(fb::BlobName name, size_t at, uint32_t value) {
  return [=](SmallTokenizer& small) {
    std::memcpy(small.image().data() + blob_of(small.description(), name)->offset() + at, &value, sizeof(value));
  };
}

/// The table begins `skipped` bytes later and has `size` bytes.
std::function<void(SmallTokenizer&)> placed(fb::BlobName name, uint64_t skipped, uint64_t size) {
  return described([=](fb::TokenizerT& t) {
    auto& blob = blob_of(t, name);
    blob = std::make_unique<fb::Blob>(blob->offset() + skipped, size, 0, 0);
  });
}

std::function<void(SmallTokenizer&)> without(fb::BlobName name) {
  return described([=](fb::TokenizerT& t) {
    for (size_t i = 0; i < t.blobs.size(); ++i) {
      if (t.blobs[i]->name == name) t.blobs.erase(t.blobs.begin() + static_cast<std::ptrdiff_t>(i));
    }
  });
}

template <typename Make>
void expect_sentences(const std::vector<Rule>& rules, const Make& make) {
  for (const Rule& rule : rules) {
    SmallTokenizer small = make();
    ASSERT_TRUE(small.ok());
    ASSERT_EQ(small.image().verify(), Status::kOk);
    rule.apply(small);
    Fault fault;
    EXPECT_EQ(small.image().verify(&fault), rule.status) << rule.sentence;
    EXPECT_STREQ(fault.what, rule.sentence);
  }
}

TEST(TokenizerRules, OfEveryTokenizer) {
  using T = fb::TokenizerT;
  using Name = fb::BlobName;
  const char* const vocabulary = "vocab_size is zero or more than 4194304";
  const char* const sequence = "a template names a sequence other than 0 and 1";
  const char* const long_added = "an added token has more than 512 bytes";
  expect_sentences(
      {
          {vocabulary, kCorrupt, described([](T& t) { t.vocab_size = 0; })},
          {vocabulary, kCorrupt, described([](T& t) { t.vocab_size = 4194305; })},
          {"this version executes one splitter, of the kinds that it knows", kUnsupported,
           described([](T& t) { t.splitters[0]->kind = static_cast<fb::SplitterKind>(77); })},
          {"this kind of tokenizer model is not executed by this version", kUnsupported,
           described([](T& t) { t.model->kind = static_cast<fb::TokenModelKind>(77); })},
          {"tokens of the model alone have no token in their place", kCorrupt, described([](T& t) {
             t.model->hidden_from = 3;
             t.model->unknown_id = -1;
           })},
          {"token_begin does not hold vocab_size + 1 offsets", kCorrupt, described([](T& t) { ++t.vocab_size; })},
          {"the trie's size is not a multiple of 256 units or too large", kCorrupt, placed(Name::trie, 0, 0)},
          {"token_begin does not span token_text", kCorrupt, stored(Name::token_begin, 0, 1)},
          {"a unit of the trie has label 0", kCorrupt, stored(Name::trie, 0, 0)},
          {"the trie's version is not known", kUnsupported,
           stored(Name::roots, offsetof(text::LexiconRoots, version), 99)},
          {long_added, kCorrupt, stored(Name::roots, offsetof(text::LexiconRoots, longest), 513)},
          {long_added, kCorrupt, stored(Name::roots, offsetof(text::LexiconRoots, longest) + 4, 513)},
          {"an added token's id is not a token", kCorrupt, described([](T& t) { t.added_tokens.back()->id = 99; })},
          {"a template's segment is out of range", kCorrupt,
           described([](T& t) { t.single[0] = fb::TemplatePiece(2, 0, 0x80000000u); })},
          {sequence, kCorrupt, described([](T& t) { t.single[1] = fb::TemplatePiece(-1, 3, 0); })},
          {sequence, kCorrupt, described([](T& t) { t.single[1] = fb::TemplatePiece(-1, -1, 0); })},
          {"the table of words is cut short", kCorrupt, placed(Name::words, 0, 4)},
          {"the table of words has too many buckets", kCorrupt, stored(Name::words, 0, 32)},
          {"the table of words is not of the size that it says", kCorrupt, stored(Name::words, 4, 0)},
      },
      [] {
        return SmallTokenizer(std::vector<std::string>{"a", "b", "##a", "##b", "ab"});
      });
}

TEST(TokenizerRules, OfBytePairs) {
  using T = fb::TokenizerT;
  using Name = fb::BlobName;
  const char* const trait = "a trait of byte pair encoding is not known";
  const char* const pairs = "the table of pairs is not there";
  const char* const split = "the table of the split has too many or too few states, classes or blocks";
  const Merges merges = {{"a", "b"}, {"ab", "a"}};
  std::vector<Rule> rules = {
      {"the table of merges does not hold an entry a token", kCorrupt, without(Name::merges)},
      {pairs, kCorrupt, without(Name::pairs)},
      {pairs, kCorrupt, placed(Name::pairs, 0, 0)},
      {"the table of pairs is not of the size that it says", kCorrupt, stored(Name::pairs, 0, 60)},
      {trait, kUnsupported, described([](T& t) { t.model->traits = 0x80000000u; })},
      {"the table of the split is not there", kCorrupt, without(Name::split)},
      {"the table of the split is cut short", kCorrupt, placed(Name::split, 0, 4)},
  };
  for (const size_t at : {size_t{4}, size_t{8}, size_t{12}}) {
    for (const uint32_t value : {0u, 70000u}) rules.push_back({split, kCorrupt, stored(Name::split, at, value)});
  }
  expect_sentences(rules, [&] { return SmallTokenizer(bpe_json(merges)); });
}

uint8_t* bytes_of(SmallTokenizer& small, fb::BlobName name) {
  return small.image().data() + blob_of(small.description(), name)->offset();
}

/// The table lies `by` bytes farther.
void move(SmallTokenizer& small, fb::BlobName name, int64_t by) {
  const fb::Blob blob = *blob_of(small.description(), name);
  uint8_t* bytes = bytes_of(small, name);
  std::memmove(bytes + by, bytes, blob.size());
  placed(name, static_cast<uint64_t>(by), blob.size())(small);
}

TEST(TokenizerRules, OfWords) {
  using Name = fb::BlobName;
  expect_sentences(
      {
          // Into what fills up the table in front of it.
          {"the table of words is not aligned", kCorrupt, [](SmallTokenizer& small) { move(small, Name::words, -4); }},
          {"the table of words is not of the size that it says", kCorrupt,
           [](SmallTokenizer& small) {
             stored(Name::words, 0, 5)(small);
             stored(Name::words, 4, 0)(small);
             placed(Name::words, 0, text::word_table_end(5, 0))(small);
           }},
      },
      [] {
        return SmallTokenizer(std::vector<std::string>{"a", "b", "##a", "##b", "ab"});
      });
}

TEST(TokenizerRules, OfNormalisers) {
  using Name = fb::BlobName;
  const char* const count = "the normalisers have too many or too few tables";
  expect_sentences(
      {
          {count, kCorrupt, stored(Name::forms, offsetof(text::FormsHeader, count), 0)},
          {count, kCorrupt, stored(Name::forms, offsetof(text::FormsHeader, count), text::kMaxCodeTables + 1)},
          {"a table of the normalisers is cut short or leads outside itself", kCorrupt,
           [](SmallTokenizer& small) {
             // The last table, two bytes farther: all of it is there.
             uint8_t* forms = bytes_of(small, Name::forms);
             const uint64_t size = blob_of(small.description(), Name::forms)->size();
             auto& header = *reinterpret_cast<text::FormsHeader*>(forms);
             uint32_t& offset = *(header.offset + (header.count - 1));
             uint8_t* table = forms + offset;
             std::memmove(table + 2, table, size - offset);
             offset += 2;
             placed(Name::forms, 0, size + 2)(small);
           }},
      },
      [] {
        nlohmann::json json = whole_text_json({});
        json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "Lowercase"}}, {{"type", "Strip"}}}}};
        return SmallTokenizer(json);
      });
}

text::SplitHeader& split_header(SmallTokenizer& small) {
  return *reinterpret_cast<text::SplitHeader*>(bytes_of(small, fb::BlobName::split));
}
/// SplitPass.more of the table that begins so many bytes into the blob.
uint32_t& more_behind(SmallTokenizer& small, uint64_t at = 0) {
  return const_cast<text::SplitPass&>(text::split_pass(bytes_of(small, fb::BlobName::split) + at)).more;
}

TEST(TokenizerRules, OfSplits) {
  using Name = fb::BlobName;
  expect_sentences(
      {
          {"the table of the split has too many or too few states, classes or blocks", kCorrupt,
           [](SmallTokenizer& small) { split_header(small).states = split_header(small).stride = 256; }},
          {"the table of the split that puts blanks before words is not the last but one", kCorrupt,
           [](SmallTokenizer& small) {
             ASSERT_EQ(split_header(small).version, text::kSplitPrefixVersion);
             more_behind(small, text::split_pass_size(split_header(small))) = 1;
           }},
          {"the table of the split that puts blanks before words is the last one", kCorrupt,
           [](SmallTokenizer& small) {
             more_behind(small) = 0;
             placed(Name::split, 0, text::split_pass_size(split_header(small)))(small);
           }},
          // Words are found by one table.
          {"the table of the split is not of the size that it says", kCorrupt,
           [](SmallTokenizer& small) {
             const fb::Blob first(blob_of(small.description(), Name::split)->offset(),
                                  text::split_pass_size(split_header(small)), 0, 0);
             described([&](fb::TokenizerT& t) {
               t.blobs.push_back(std::make_unique<fb::TokenizerBlobT>());
               t.blobs.back()->name = Name::word_split;
               t.blobs.back()->data = std::make_unique<fb::Blob>(first);
               std::sort(t.blobs.begin(), t.blobs.end(),
                         [](const auto& a, const auto& b) { return a->name < b->name; });
             })(small);
           }},
      },
      [] {
        nlohmann::json json = whole_text_json({{" ", "a"}});
        const nlohmann::json at_x = {
            {"type", "Split"}, {"pattern", {{"String", "x"}}}, {"behavior", "Isolated"}, {"invert", false}};
        const nlohmann::json bytes = {
            {"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", true}, {"trim_offsets", false}};
        json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {at_x, bytes}}};
        return SmallTokenizer(json);
      });
}

TEST(TokenizerRules, OfSplitsBeforeMetaspace) {
  expect_sentences(
      {{"the table of the split before metaspace does not say whether others follow", kCorrupt,
        [](SmallTokenizer& small) {
          const text::SplitHeader header = split_header(small);
          split_header(small).version = text::kSplitVersion;
          placed(fb::BlobName::split, 0,
                 text::split_next_offset(header.blocks) + 2 * header.states * header.stride)(small);
        }}},
      [] {
        using Json = nlohmann::json;
        const Json metaspace = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
        const Json punctuation = {{"type", "Punctuation"}, {"behavior", "Isolated"}};
        const Json vocabulary = Json::array({Json::array({"<unk>", 0.0}), Json::array({"a", -1.0})});
        Json json;
        json["model"] = {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}};
        json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {punctuation, metaspace}}};
        return SmallTokenizer(json);
      });
}

}  // namespace rules_test
}  // namespace bantam::tests
