// The public Tokenizer: truncation, windows, buffers, lookups, hostile text.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/text/vocabulary.h"

namespace bantam::tests {
namespace {

// Ids:                                      5    6    7    8    9      10     11    12     13      14
const std::vector<std::string> kTen = {"a", "b", "c", "d", "##a", "##b", "ab", "the", "caf", "##e"};

using Ids = std::vector<int32_t>;

TEST(Tokenizer, SplitsLongestFirstWithinTheTemplate) {
  SmallTokenizer small(kTen);
  const Tokenizer tokenizer = small.open();
  EXPECT_EQ(encode(tokenizer, "The ABBA x").ids, (Ids{2, 12, 11, 10, 9, 1, 3}));
  const Encoded cafe = encode(tokenizer, " caf\u00e9 ");
  EXPECT_EQ(cafe.ids, (Ids{2, 13, 14, 3}));
  EXPECT_EQ(cafe.offsets[1].begin, 1u);
  EXPECT_EQ(cafe.offsets[1].end, 4u);
  EXPECT_EQ(cafe.offsets[2].begin, 4u);
  EXPECT_EQ(cafe.offsets[2].end, 6u);
  EXPECT_EQ(cafe.sequences, (std::vector<uint8_t>{255, 0, 0, 255}));
}

TEST(Tokenizer, EmptyAndBlankTextsHoldOnlyTheTemplate) {
  SmallTokenizer small(kTen);
  const Tokenizer tokenizer = small.open();
  EXPECT_EQ(encode(tokenizer, "").ids, (Ids{2, 3}));
  EXPECT_EQ(encode(tokenizer, " \n\t\u3000").ids, (Ids{2, 3}));
  const std::string second = "a";
  const Encoded pair = encode(tokenizer, "", &second);
  EXPECT_EQ(pair.ids, (Ids{2, 3, 5, 3}));
  EXPECT_EQ(pair.segments, (Ids{0, 0, 1, 1}));
  int32_t ids[4];
  EncodeResult result;
  ASSERT_EQ(tokenizer.encode({}, {}, {}, {ids, nullptr, nullptr, nullptr, 4}, &result), Status::kOk);
  EXPECT_EQ(result.count, 2u);
}

TEST(Tokenizer, WordsBeyondTheFilesLimitAreUnknown) {
  SmallTokenizer small(kTen);
  small.description().model->max_word_chars = 2;
  small.image().repack(small.description());
  EXPECT_EQ(encode(small.open(), "the ab abb abbabbabbabba").ids, (Ids{2, 1, 11, 1, 1, 3}));
}

TEST(Tokenizer, CountsWhatItLeavesOut) {
  SmallTokenizer small(kTen);
  const Tokenizer tokenizer = small.open();
  EncodeOptions options;
  options.max_tokens = 4;
  const Encoded cut = encode(tokenizer, "a b c d", nullptr, options);
  EXPECT_EQ(cut.ids, (Ids{2, 5, 6, 3}));
  EXPECT_TRUE(cut.result.truncated);
  EXPECT_EQ(cut.result.content[0], 4u);
  EXPECT_EQ(cut.result.kept[0], 2u);
  options.truncation = TruncationSide::kNone;
  const Encoded refused = encode(tokenizer, "a b c d", nullptr, options);
  EXPECT_EQ(refused.status, Status::kBufferTooSmall);
  EXPECT_EQ(refused.result.content[0], 4u);
  options.add_special = false;
  EXPECT_EQ(encode(tokenizer, "a b c d", nullptr, options).ids, (Ids{5, 6, 7, 8}));
}

TEST(Tokenizer, ReadsTheFilesLimitAndSide) {
  SmallTokenizer small(kTen);
  small.description().max_length = 4;
  small.description().truncate_left = true;
  small.image().repack(small.description());
  const Tokenizer tokenizer = small.open();
  EXPECT_EQ(encode(tokenizer, "a b c d").ids, (Ids{2, 7, 8, 3}));
  EncodeOptions options;
  options.max_tokens = 5;
  EXPECT_EQ(encode(tokenizer, "a b c d", nullptr, options).ids, (Ids{2, 6, 7, 8, 3}));
}

TEST(Tokenizer, FillsTextsUpToTheFilesLimit) {
  SmallTokenizer small(kTen);
  fb::TokenizerT& description = small.description();
  description.max_length = 6;
  description.pad_id = 4;
  description.single.emplace_back(-1, 2, 1);
  small.image().repack(description);
  const Tokenizer tokenizer = small.open();
  EXPECT_EQ(tokenizer.special_count(false), 2u);
  const Encoded filled = encode(tokenizer, "a b");
  EXPECT_EQ(filled.ids, (Ids{2, 5, 6, 3, 4, 4}));
  EXPECT_EQ(filled.segments, (Ids{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(filled.sequences, (std::vector<uint8_t>{255, 0, 0, 255, 255, 255}));
  EXPECT_EQ(filled.offsets.back().end, 0u);
  EXPECT_FALSE(filled.result.truncated);
  EXPECT_EQ(encode(tokenizer, "").ids, (Ids{2, 3, 4, 4, 4, 4}));
  EXPECT_EQ(encode(tokenizer, "a b c d").ids, (Ids{2, 5, 6, 7, 8, 3}));
  const Encoded cut = encode(tokenizer, "a b c d the");
  EXPECT_EQ(cut.ids, (Ids{2, 5, 6, 7, 8, 3}));
  EXPECT_TRUE(cut.result.truncated);
  const std::string second = "b";
  EXPECT_EQ(encode(tokenizer, "a", &second).ids, (Ids{2, 5, 3, 6, 3}));  // the pair template has no padding

  EncodeOptions options;
  options.max_tokens = 5;
  EXPECT_EQ(encode(tokenizer, "a b", nullptr, options).ids, (Ids{2, 5, 6, 3, 4}));
  options.max_tokens = 9;  // longer texts may be longer, and shorter ones are padded as always
  EXPECT_EQ(encode(tokenizer, "a b", nullptr, options).ids, (Ids{2, 5, 6, 3, 4, 4}));
  EXPECT_EQ(encode(tokenizer, "a b c d the", nullptr, options).ids, (Ids{2, 5, 6, 7, 8, 12, 3}));
  options.add_special = false;
  EXPECT_EQ(encode(tokenizer, "a b", nullptr, options).ids, (Ids{5, 6}));
  // A smaller buffer does not change the text.
  EXPECT_EQ(encode(tokenizer, "a b", nullptr, {}, 5).status, Status::kBufferTooSmall);
  EXPECT_EQ(encode(tokenizer, "a b", nullptr, {}, 6).ids.size(), 6u);
}

TEST(Tokenizer, WindowsSlideOverTheText) {
  SmallTokenizer small(kTen);
  const Tokenizer tokenizer = small.open();
  EncodeOptions options;
  options.max_tokens = 4;
  Ids seen;
  for (options.skip = 0;; options.skip += 2) {
    const Encoded window = encode(tokenizer, "a b c d the", nullptr, options);
    ASSERT_EQ(window.status, Status::kOk);
    EXPECT_EQ(window.result.content[0], 5u);
    seen.insert(seen.end(), window.ids.begin() + 1, window.ids.end() - 1);
    if (options.skip + window.result.kept[0] >= window.result.content[0]) break;
  }
  EXPECT_EQ(seen, (Ids{5, 6, 7, 8, 12}));

  const std::string context = "a b c d";
  options.max_tokens = 7;
  options.skip = 1;
  options.truncation = TruncationSide::kOnlySecond;
  const Encoded pair = encode(tokenizer, "the the", &context, options);
  EXPECT_EQ(pair.ids, (Ids{2, 12, 12, 3, 6, 7, 3}));
  EXPECT_TRUE(pair.result.truncated);
  options.skip = 100;
  EXPECT_EQ(encode(tokenizer, "the", &context, options).ids, (Ids{2, 12, 3, 3}));
}

TEST(Tokenizer, BuffersAreNeverOverrun) {
  SmallTokenizer small(kTen);
  const Tokenizer tokenizer = small.open();
  const std::string text = "a b c d the";
  for (uint32_t capacity = 0; capacity < 9; ++capacity) {
    std::vector<int32_t> ids(capacity + 1, -7);
    EncodeResult result;
    const Status status =
        tokenizer.encode(view(text), {}, {}, {ids.data(), nullptr, nullptr, nullptr, capacity}, &result);
    EXPECT_EQ(status, capacity < 2 ? Status::kBufferTooSmall : Status::kOk);
    EXPECT_EQ(ids.back(), -7);
    if (status == Status::kOk) {
      EXPECT_EQ(result.count, capacity < 7 ? capacity : 7);
    }
  }
  EncodeResult result;
  EXPECT_EQ(tokenizer.encode(view(text), {}, {}, {nullptr, nullptr, nullptr, nullptr, 4}, &result),
            Status::kInvalidArgument);
  EXPECT_EQ(Tokenizer().encode(view(text), {}, {}, {}, &result), Status::kInvalidArgument);
}

TEST(Tokenizer, LooksTokensUp) {
  SmallTokenizer small(kTen);
  const Tokenizer tokenizer = small.open();
  for (uint32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const Text token = tokenizer.token(id);
    ASSERT_GT(token.size, 0u);
    EXPECT_EQ(tokenizer.id(token), static_cast<int32_t>(id));
    EXPECT_EQ(tokenizer.is_special(id), id < 5);
  }
  EXPECT_EQ(tokenizer.token(tokenizer.vocab_size()).size, 0u);
  for (const char* missing : {"", "th", "thee", "x", "##"}) EXPECT_EQ(tokenizer.id(view(missing)), -1) << missing;
  EXPECT_EQ(tokenizer.special_count(false), 2u);
  EXPECT_EQ(tokenizer.special_count(true), 3u);
  EXPECT_EQ(tokenizer.mask_id(), 4);
  EXPECT_EQ(tokenizer.unknown_id(), 1);
}

TEST(Tokenizer, InvalidUtf8IsRemovedAndOffsetsCoverTheBytesAround) {
  SmallTokenizer small(kTen);
  const Tokenizer tokenizer = small.open();
  const Encoded got = encode(tokenizer,
                             "a\xff\xe4\xb8"
                             "b \xc0\x80 c");
  EXPECT_EQ(got.ids, (Ids{2, 11, 7, 3}));
  EXPECT_EQ(got.offsets[1].begin, 0u);
  EXPECT_EQ(got.offsets[1].end, 5u);
  EXPECT_EQ(got.offsets[2].begin, 9u);
  EXPECT_EQ(got.offsets[2].end, 10u);
}

TEST(Tokenizer, ALongTextOfOneWordIsUnknown) {
  SmallTokenizer small(kTen);
  const Tokenizer tokenizer = small.open();
  for (const char* unit : {"a", "\u00e9", "\u0301", "\u0301\ua9c0", "e\u0301\ua9c0"}) {
    const Encoded got = encode(tokenizer, long_text(unit));
    ASSERT_EQ(got.status, Status::kOk);
    EXPECT_LE(got.ids.size(), 3u);
  }
}

/// A text whose last byte is directly before unreadable memory.
class GuardedText {
 public:
  explicit GuardedText(const std::string& text) {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_ = (text.size() + page_ - 1) / page_ * page_ + page_;
    memory_ = static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    text_ = {memory_ + size_ - page_ - text.size(), text.size()};
    std::memcpy(memory_ + size_ - page_ - text.size(), text.data(), text.size());
    mprotect(memory_ + size_ - page_, page_, PROT_NONE);
  }
  ~GuardedText() { munmap(memory_, size_); }
  GuardedText(const GuardedText&) = delete;
  GuardedText& operator=(const GuardedText&) = delete;
  Text text() const { return text_; }

 private:
  size_t page_ = 0;
  size_t size_ = 0;
  char* memory_ = nullptr;
  Text text_;
};

RC_GTEST_PROP(TokenizerProperty, AnyBytesGiveOrderedOffsetsInsideTheText, (const std::vector<uint8_t>& bytes)) {
  static SmallTokenizer small(kTen);
  const Tokenizer tokenizer = small.open();
  std::string text(bytes.begin(), bytes.end());
  if (bytes.size() % 2 == 0) text += "[MASK] a\xe4\xb8";
  const GuardedText guarded(text);
  std::vector<int32_t> ids(4 * text.size() + 2);
  std::vector<Offset> offsets(ids.size());
  EncodeResult result;
  const TokenBuffer buffer = {ids.data(), nullptr, offsets.data(), nullptr, static_cast<uint32_t>(ids.size())};
  RC_ASSERT(tokenizer.encode(guarded.text(), {}, {}, buffer, &result) == Status::kOk);
  uint32_t last = 0;
  for (uint32_t i = 1; i + 1 < result.count; ++i) {
    RC_ASSERT(ids[i] >= 0 && static_cast<uint32_t>(ids[i]) < tokenizer.vocab_size());
    RC_ASSERT(offsets[i].begin >= last);
    RC_ASSERT(offsets[i].begin < offsets[i].end && offsets[i].end <= text.size());
    last = offsets[i].begin;
  }
}

RC_GTEST_PROP(TokenizerProperty, LongestMatchEqualsTryingEveryLength, ()) {
  const auto letter = rc::gen::elementOf(std::string("abc"));
  const auto word = rc::gen::resize(6, rc::gen::nonEmpty(rc::gen::container<std::string>(letter)));
  const auto drawn = *rc::gen::container<std::vector<std::string>>(word);
  const auto continued = *rc::gen::container<std::vector<std::string>>(word);
  std::map<std::string, int32_t> ids;
  std::vector<std::string> tokens;
  const auto add = [&](const std::string& token) {
    if (ids.emplace(token, static_cast<int32_t>(tokens.size()) + 5).second) tokens.push_back(token);
  };
  for (const std::string& token : drawn) add(token);
  for (const std::string& token : continued) add("##" + token);
  SmallTokenizer small(tokens);
  RC_ASSERT(small.ok());
  RC_ASSERT(small.image().verify() == Status::kOk);
  const std::string text = *rc::gen::resize(20, rc::gen::nonEmpty(rc::gen::container<std::string>(letter)));
  Ids expected;
  for (size_t at = 0; at < text.size();) {
    size_t size = text.size() - at;
    const std::string prefix = at == 0 ? "" : "##";
    while (size > 0 && ids.count(prefix + text.substr(at, size)) == 0) --size;
    if (size == 0) {
      expected = {1};
      break;
    }
    expected.push_back(ids[prefix + text.substr(at, size)]);
    at += size;
  }
  EncodeOptions options;
  options.add_special = false;
  RC_ASSERT(encode(small.open(), text, nullptr, options).ids == expected);
}

}  // namespace
}  // namespace bantam::tests
