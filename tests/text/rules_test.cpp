// Rules of verify_tokenizer by their sentences: whatever violates one is refused with its sentence, whichever other
// rules it violates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "tests/text/bpe_vocabulary.h"
#include "text/bpe.h"
#include "text/code_table.h"
#include "text/lexicon.h"
#include "text/merge_table.h"
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

/// Violates a rule by editing the description.
std::function<void(SmallTokenizer&)> described(const std::function<void(fb::TokenizerT&)>& edit) {
  return [edit](SmallTokenizer& small) {
    edit(small.description());
    small.image().repack(small.description());
  };
}

/// Violates a rule by storing a number `at` bytes into a table.
std::function<void(SmallTokenizer&)> stored(fb::BlobName name, size_t at, uint32_t value) {
  return [=](SmallTokenizer& small) {
    std::memcpy(small.image().data() + blob_of(small.description(), name)->offset() + at, &value, sizeof(value));
  };
}

/// Moves the beginning of the table by `skipped` bytes and sets its size to `size` bytes.
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

/// Adds a charsmap without units and strings: it begins where the token offsets begin, the first of which is 0.
void add_charsmap(fb::TokenizerT& t) {
  t.normalizers.push_back(std::make_unique<fb::NormalizerT>());
  t.normalizers.back()->kind = fb::NormalizerKind::charsmap;
  auto& blobs = t.blobs;
  auto at = blobs.begin();
  while (at != blobs.end() && (*at)->name < fb::BlobName::charsmap) ++at;
  auto blob = std::make_unique<fb::TokenizerBlobT>();
  blob->name = fb::BlobName::charsmap;
  blob->data = std::make_unique<fb::Blob>(blob_of(t, fb::BlobName::token_begin)->offset(), 8, 0, 0);
  blobs.insert(at, std::move(blob));
}

/// Places the charsmap at the first token offset that `fits`, which then counts as the size of its units in bytes. Its
/// own size is this plus `others`.
std::function<void(SmallTokenizer&)> charsmap_of(uint32_t others, const std::function<bool(uint32_t)>& fits) {
  return [others, fits](SmallTokenizer& small) {
    fb::TokenizerT& t = small.description();
    const uint64_t begins = blob_of(t, fb::BlobName::token_begin)->offset();
    for (uint32_t token = 0; token < t.vocab_size; ++token) {
      uint32_t begin = 0;
      std::memcpy(&begin, small.image().data() + begins + 4 * token, sizeof(begin));
      if (!fits(begin)) continue;
      blob_of(t, fb::BlobName::charsmap) = std::make_unique<fb::Blob>(begins + 4 * token, begin + others, 0, 0);
      small.image().repack(t);
      return;
    }
    ADD_FAILURE() << "no token begins there";
  };
}

fb::NormalizerT& form(fb::TokenizerT& t) { return *t.normalizers[0]; }
fb::NormalizerT& run(fb::TokenizerT& t) { return *t.normalizers[1]; }

/// A form, a rule that removes texts consisting only of marks, and a charsmap.
SmallTokenizer with_normalizers() {
  nlohmann::json json = whole_text_json({});
  const nlohmann::json runs = {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", "_"}};
  json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, runs}}};
  SmallTokenizer small(json);
  if (!small.ok()) return small;
  fb::TokenizerT& t = small.description();
  run(t).text = "_";
  run(t).content.clear();
  run(t).least = 1;
  run(t).left = run(t).right = true;
  add_charsmap(t);
  small.image().repack(t);
  return small;
}

TEST(TokenizerRules, OfNormalisersInARow) {
  using T = fb::TokenizerT;
  using Kind = fb::NormalizerKind;
  const char* const table = "a normaliser names a table that is not there";
  const char* const replaced = "a normaliser replaces nothing, or more than this version takes";
  const char* const ends = "a normaliser replaces at the ends of texts otherwise than this version does";
  const char* const cut = "the charsmap is not there or cut short";
  const char* const size = "the charsmap is not of the size that it says";
  const auto in_texts = [](const std::function<void(T&)>& edit) {
    return described([edit](T& t) {
      run(t).left = run(t).right = false;
      edit(t);
    });
  };
  expect_sentences(
      {
          {"more than 12 normalisers", kUnsupported, described([](T& t) {
             while (t.normalizers.size() < 13) t.normalizers.push_back(std::make_unique<fb::NormalizerT>(form(t)));
           })},
          {table, kCorrupt, described([](T& t) { form(t).table = 99; })},
          {table, kCorrupt, described([](T& t) {
             form(t).kind = Kind::map;
             form(t).table = 99;
           })},
          {replaced, kUnsupported, in_texts([](T& t) { run(t).text = "abc"; })},
          {replaced, kUnsupported, in_texts([](T& t) { run(t).least = 5; })},
          {replaced, kUnsupported, in_texts([](T& t) {
             run(t).least = 0;
             run(t).text.clear();
           })},
          {replaced, kUnsupported, in_texts([](T& t) {
             run(t).least = 0;
             run(t).text = "abcde";
           })},
          {ends, kUnsupported, described([](T& t) { run(t).left = false; })},
          {ends, kUnsupported, described([](T& t) { run(t).right = false; })},
          {ends, kUnsupported, described([](T& t) { run(t).least = 2; })},
          {ends, kUnsupported, described([](T& t) { run(t).text = "_a"; })},
          {ends, kUnsupported, described([](T& t) { run(t).content = "x"; })},
          {ends, kUnsupported,
           described([](T& t) { t.normalizers.push_back(std::make_unique<fb::NormalizerT>(run(t))); })},
          {"there are two charsmaps", kCorrupt,
           described([](T& t) { t.normalizers.push_back(std::make_unique<fb::NormalizerT>(*t.normalizers.back())); })},
          {cut, kCorrupt, without(fb::BlobName::charsmap)},
          {cut, kCorrupt, placed(fb::BlobName::charsmap, 0, 3)},
          {size, kCorrupt, charsmap_of(4, [](uint32_t begin) { return begin % 4 != 0; })},
          {size, kCorrupt, charsmap_of(3, [](uint32_t begin) { return begin % 4 == 0 && begin != 0; })},
      },
      with_normalizers);
}

/// A table refused because of its size alone is not read, so tests may claim more data than there is.
TEST(TokenizerRules, OfTablesOfGigabytes) {
  const std::pair<const char*, std::function<void(SmallTokenizer&)>> cases[] = {
      {"the trie's size is not a multiple of 256 units or too large",
       placed(fb::BlobName::trie, 0, (uint64_t{1} << 24) + 1024)},
      {"the charsmap is not there or cut short", placed(fb::BlobName::charsmap, 0, uint64_t{1} << 32)},
  };
  for (const auto& [sentence, apply] : cases) {
    SmallTokenizer small = with_normalizers();
    ASSERT_TRUE(small.ok());
    apply(small);
    Fault fault;
    const Status status =
        text::verify_tokenizer(small.image().table(), small.image().data(), uint64_t{1} << 34, &fault);
    EXPECT_EQ(status, kCorrupt) << sentence;
    EXPECT_STREQ(fault.what, sentence);
  }
}

TEST(TokenizerRules, OfScoresOf64Bits) {
  const auto token = [](const char* text, double score) { return nlohmann::json::array({text, score}); };
  const auto vocabulary = nlohmann::json::array({token("<unk>", 0.0), token("a", -0.1), token("b", -0.3)});
  nlohmann::json json;
  json["model"] = {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}};
  json["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
  expect_sentences({{"the table of scores does not hold a score a token", kCorrupt, described([](fb::TokenizerT& t) {
                       auto& scores = blob_of(t, fb::BlobName::scores);
                       ASSERT_EQ(scores->size(), 8 * t.vocab_size);
                       ASSERT_GE(scores->offset(), 8U);
                       scores = std::make_unique<fb::Blob>(scores->offset() - 4, scores->size(), 0, 0);
                     })}},
                   [&] { return SmallTokenizer(json); });
}

TEST(TokenizerRules, OfBytePairs) {
  using T = fb::TokenizerT;
  using Name = fb::BlobName;
  const char* const trait = "a trait of byte pair encoding is not known";
  const char* const pairs = "the table of pairs is not there";
  const char* const split = "the table of the split has too many or too few states, classes or blocks";
  const Merges merges = {{"a", "b"}, {"ab", "a"}};
  constexpr uint32_t kMade = 260;  // "aba"
  std::vector<Rule> rules = {
      {"the table of merges does not hold an entry a token", kCorrupt, without(Name::merges)},
      {pairs, kCorrupt, without(Name::pairs)},
      {pairs, kCorrupt, placed(Name::pairs, 0, 0)},
      {"the table of pairs is not of the size that it says", kCorrupt, stored(Name::pairs, 0, 60)},
      {trait, kUnsupported, described([](T& t) { t.model->traits = 0x80000000u; })},
      {trait, kUnsupported, described([](T& t) { t.model->traits = text::kCodePoints | text::kSomeBytes; })},
      {trait, kUnsupported, described([](T& t) { t.model->traits = text::kSkipUnknown; })},
      {"a merge comes before one of its parts is made", kCorrupt,
       stored(Name::merges, kMade * sizeof(text::MergeEntry) + offsetof(text::MergeEntry, right), kMade)},
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

/// Moves the table by `by` bytes.
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
          // Moves it into the padding before it.
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
             // The last table, moved by two bytes: it is still complete.
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
/// Returns SplitPass.more of the table that begins at this offset in the blob.
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
          // Words are found by a single table.
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

/// The last token also takes what follows the tokens' text.
TEST(TokenizerRules, OfLongBytePairs) {
  const auto lengthen = [](SmallTokenizer& small) {
    const auto& begins = *blob_of(small.description(), fb::BlobName::token_begin);
    auto& text = blob_of(small.description(), fb::BlobName::token_text);
    const auto end = static_cast<uint32_t>(text->size() + text::kMaxBpeToken);
    std::memcpy(small.image().data() + begins.offset() + begins.size() - sizeof(end), &end, sizeof(end));
    text = std::make_unique<fb::Blob>(text->offset(), end, 0, 0);
    small.image().repack(small.description());
  };
  expect_sentences({{"a token has more bytes than this build takes", kUnsupported, lengthen}}, [] {
    return SmallTokenizer(bpe_json({{"a", "b"}, {"ab", "a"}}));
  });
}

}  // namespace rules_test
}  // namespace bantam::tests
