// Text batches: what add() accepts, what it leaves for the next batch, and what sequences report afterwards.
#include <gtest/gtest.h>

#include <thread>

#include "bantam/steps.h"
#include "bantam/tasks.h"
#include "run/long_text.h"
#include "tests/session/run_helpers.h"
#include "tests/session/tokenizer_model.h"

namespace bantam::testing {
namespace {

Text view(const std::string& text) { return {text.data(), text.size()}; }

class TextTest : public ::testing::Test {
 protected:
  explicit TextTest(uint32_t stated = 0) : file_(model_with_tokenizer(WeightType::kI8, stated)) {}

  void open(uint32_t max_tokens, uint32_t max_sequences) {
    ASSERT_EQ(Model::open(file_.data(), file_.size(), &model_), Status::kOk);
    SessionOptions options;
    options.max_tokens = max_tokens;
    options.max_sequences = max_sequences;
    arena_ = std::make_unique<Arena>(arena_bytes(model_, options));
    ASSERT_EQ(Session::create(model_, options, arena_->data(), arena_->size(), &session_), Status::kOk);
  }

  const FileBytes file_;
  Model model_;
  std::unique_ptr<Arena> arena_;
  Session* session_ = nullptr;
};

TEST_F(TextTest, ABatchOfTextsGivesWhatTheirIdsGive) {
  open(96, 4);
  const std::string texts[] = {"turn on the light", "play some jazz", "what is the weather in Paris"};
  for (const std::string& text : texts) ASSERT_EQ(session_->add(view(text), {}, {}), Status::kOk);
  ASSERT_EQ(session_->run(), Status::kOk);
  ASSERT_EQ(session_->sequence_count(), 3u);
  Ids ids;
  for (uint32_t i = 0; i < 3; ++i) {
    const EncodedSequence s = session_->sequence(i);
    EXPECT_EQ(s.row_begin, ids.offsets.back());
    EXPECT_EQ(s.result.count, s.row_count);
    EXPECT_EQ(s.sequences[0], 255);
    ids.ids.insert(ids.ids.end(), s.ids, s.ids + s.row_count);
    ids.segments.insert(ids.segments.end(), s.segments, s.segments + s.row_count);
    ids.offsets.push_back(ids.offsets.back() + s.row_count);
  }
  OutputView view_of_text;
  ASSERT_EQ(session_->output(0, &view_of_text), Status::kOk);
  const std::vector<float> expected = values(view_of_text);
  ASSERT_EQ(session_->run(ids.batch()), Status::kOk);
  OutputView view_of_ids;
  ASSERT_EQ(session_->output(0, &view_of_ids), Status::kOk);
  EXPECT_EQ(values(view_of_ids), expected);
  EXPECT_EQ(session_->sequence(0).offsets, nullptr);
}

TEST_F(TextTest, TextsRunInStepsToo) {
  open(96, 4);
  const auto add = [&] { return session_->add({"turn on the light", 17}, {}, {}); };
  ASSERT_EQ(add(), Status::kOk);
  ASSERT_EQ(session_->run(), Status::kOk);
  OutputView output;
  ASSERT_EQ(session_->output(0, &output), Status::kOk);
  const std::vector<float> expected = values(output);
  session_->clear();
  ASSERT_EQ(add(), Status::kOk);
  SteppedRun run;
  ASSERT_EQ(SteppedRun::begin(session_, &run), Status::kOk);
  bool done = false;
  while (!done) ASSERT_EQ(run.advance(2, &done), Status::kOk);
  ASSERT_EQ(session_->output(0, &output), Status::kOk);
  EXPECT_EQ(values(output), expected);
  EXPECT_NE(session_->sequence(0).offsets, nullptr);
  // The texts of an abandoned run are gone.
  ASSERT_EQ(SteppedRun::begin(session_, &run), Status::kOk);
  ASSERT_EQ(run.advance(1, &done), Status::kOk);
  ASSERT_EQ(add(), Status::kOk);
  EXPECT_EQ(session_->sequence_count(), 1u);
  EXPECT_EQ(run.advance(1, &done), Status::kInvalidArgument);
}

/// Sessions share only the model and the file's pages. The preset `tsan` detects writes to them.
TEST_F(TextTest, EightSessionsShareAModelInEightThreads) {
  open(48, 2);
  const std::vector<std::string> texts = {"turn on the light", "play some jazz", "what is the weather in Paris", ""};
  // Returns a session's answers to all texts, by text. The session runs two texts at a time, in an order that `first`
  // selects.
  const auto answers = [&](Session* session, uint32_t first) {
    std::vector<std::vector<float>> all(texts.size());
    for (uint32_t i = 0; i < texts.size(); i += 2) {
      session->clear();
      const uint32_t pair[2] = {(first + i) % 4, (first + i + 1) % 4};
      for (const uint32_t text : pair) EXPECT_EQ(session->add(view(texts[text]), {}, {}), Status::kOk);
      EXPECT_EQ(session->run(), Status::kOk);
      for (uint32_t row = 0; row < 2; ++row) {
        OutputView output;
        EXPECT_EQ(session->output(0, row, &output), Status::kOk);
        all[pair[row]] = values(output);
      }
    }
    return all;
  };
  const std::vector<std::vector<float>> expected = answers(session_, 0);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      SessionOptions options;
      options.max_tokens = 48;
      options.max_sequences = 2;
      Arena arena(arena_bytes(model_, options));
      Session* session = nullptr;
      ASSERT_EQ(Session::create(model_, options, arena.data(), arena.size(), &session), Status::kOk);
      for (uint32_t round = 0; round < 5; ++round) EXPECT_EQ(answers(session, i + round), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TextTest, WhatDoesNotFitTheBatchIsLeftToTheNext) {
  open(20, 4);
  const std::string text = "turn on the light in the kitchen";
  ASSERT_EQ(session_->add(view(text), {}, {}), Status::kOk);
  const uint32_t rows = session_->sequence(0).row_count;
  ASSERT_GT(2 * rows, 16u);
  Status status = Status::kOk;
  uint32_t added = 1;
  while ((status = session_->add(view(text), {}, {})) == Status::kOk) ++added;
  EXPECT_EQ(status, Status::kTooManyTokens);
  EXPECT_EQ(session_->sequence_count(), added);
  ASSERT_EQ(session_->run(), Status::kOk);
  session_->clear();
  EXPECT_EQ(session_->sequence_count(), 0u);
  EXPECT_EQ(session_->run(), Status::kInvalidArgument);
  ASSERT_EQ(session_->add(view(text), {}, {}), Status::kOk);
  ASSERT_EQ(session_->run(), Status::kOk);
}

TEST_F(TextTest, ALongTextIsTruncatedToTheSessionAndSaysSo) {
  open(12, 1);
  std::string text;
  for (int i = 0; i < 50; ++i) text += "light ";
  ASSERT_EQ(session_->add(view(text), {}, {}), Status::kOk);
  EXPECT_TRUE(session_->sequence(0).result.truncated);
  EXPECT_EQ(session_->sequence(0).row_count, 12u);
  EXPECT_EQ(session_->sequence(0).result.content[0], 50u);
  EXPECT_EQ(session_->add(view(text), {}, {}), Status::kTooManySequences);
  ASSERT_EQ(session_->run(), Status::kOk);
}

TEST_F(TextTest, TheModelsLongestSequenceHoldsWithinALargerBatch) {
  open(400, 2);
  std::string text;
  for (int i = 0; i < 300; ++i) text += "light ";
  ASSERT_EQ(session_->add(view(text), {}, {}), Status::kOk);
  EXPECT_EQ(session_->sequence(0).row_count, 96u);
  ASSERT_EQ(session_->add(view(text), {}, {}), Status::kOk);
  ASSERT_EQ(session_->run(), Status::kOk);
  LabelScore best;
  uint32_t count = 0;
  EXPECT_EQ(classify(*session_, 1, &best, 1, &count), Status::kOk);
  EXPECT_EQ(count, 1u);
}

TEST_F(TextTest, SpecialTokensThatDoNotFitAreTooManyTokens) {
  open(1, 1);
  EXPECT_EQ(session_->add(view("light"), {}, {}), Status::kTooManyTokens);
  EncodeOptions none;
  none.truncation = TruncationSide::kNone;
  open(8, 1);
  EXPECT_EQ(session_->add(view("a b c d e f g h i j"), {}, none), Status::kTooManyTokens);
  EXPECT_EQ(session_->run(), Status::kInvalidArgument);
}

/// The tokenizer's limit is 10 tokens; the model has 96 positions.
class LimitedTextTest : public TextTest {
 protected:
  LimitedTextTest() : TextTest(10) {}
};

TEST_F(LimitedTextTest, TextsAreCutAtTheTokenizersOwnLimit) {
  open(0, 2);
  EXPECT_EQ(session_->tokenizer()->max_tokens(), 10u);
  std::string text;
  for (int i = 0; i < 50; ++i) text += i % 2 == 0 ? "light " : "play ";
  ASSERT_EQ(session_->add(view(text), {}, {}), Status::kOk);
  ASSERT_EQ(session_->run(), Status::kOk);
  const EncodedSequence cut = session_->sequence(0);
  EXPECT_TRUE(cut.result.truncated);
  EXPECT_EQ(cut.result.kept[0], 8u);
  const std::vector<int32_t> ids(cut.ids, cut.ids + cut.row_count);
  OutputView output;
  ASSERT_EQ(session_->output(0, &output), Status::kOk);
  const std::vector<float> from_text = values(output);

  // All tokens, truncated by hand.
  EncodeOptions longer;
  longer.max_tokens = 60;
  session_->clear();
  ASSERT_EQ(session_->add(view(text), {}, longer), Status::kOk);
  const EncodedSequence all = session_->sequence(0);
  ASSERT_EQ(all.row_count, 52u);
  Ids by_hand;
  by_hand.ids.assign(all.ids, all.ids + 9);
  by_hand.ids.push_back(all.ids[51]);
  by_hand.segments.assign(10, 0);
  by_hand.offsets.push_back(10);
  EXPECT_EQ(ids, by_hand.ids);
  ASSERT_EQ(session_->run(by_hand.batch()), Status::kOk);
  ASSERT_EQ(session_->output(0, &output), Status::kOk);
  EXPECT_EQ(values(output), from_text);
}

/// Everything that a window of a batch reports.
struct Told {
  Status status = Status::kOk;
  std::vector<int32_t> ids, segments;
  std::vector<uint32_t> numbers;
  std::vector<uint8_t> sequences;
  bool operator==(const Told& other) const {
    return status == other.status && ids == other.ids && segments == other.segments && numbers == other.numbers &&
           sequences == other.sequences;
  }
};

Told told(const Session& session, Status status) {
  Told out;
  out.status = status;
  if (status != Status::kOk) return out;
  const EncodedSequence s = session.sequence(session.sequence_count() - 1);
  out.ids.assign(s.ids, s.ids + s.row_count);
  out.segments.assign(s.segments, s.segments + s.row_count);
  out.sequences.assign(s.sequences, s.sequences + s.row_count);
  for (uint32_t i = 0; i < s.row_count; ++i) {
    out.numbers.push_back(s.offsets[i].begin);
    out.numbers.push_back(s.offsets[i].end);
  }
  for (const uint32_t n : {s.result.count, s.result.content[0], s.result.content[1], s.result.kept[0], s.result.kept[1],
                           s.result.truncated ? 1u : 0u}) {
    out.numbers.push_back(n);
  }
  return out;
}

/// The tokens of a text alone, in arrays of exact size.
struct Known {
  Known(const Tokenizer& tokenizer, const std::string& text) : ids(text.size() + 1), offsets(text.size() + 1) {
    EncodeOptions options;
    options.add_special = false;
    options.max_tokens = static_cast<uint32_t>(ids.size());
    const TokenBuffer buffer = {ids.data(), nullptr, offsets.data(), nullptr, options.max_tokens};
    EncodeResult result;
    EXPECT_EQ(tokenizer.encode(view(text), {}, options, buffer, &result), Status::kOk);
    ids.resize(result.count);
    offsets.resize(result.count);
    ids.shrink_to_fit();
    offsets.shrink_to_fit();
  }
  TextTokens tokens() const { return {ids.data(), offsets.data(), static_cast<uint32_t>(ids.size())}; }
  std::vector<int32_t> ids;
  std::vector<Offset> offsets;
};

TEST_F(TextTest, WindowsOfKnownTokensAreThoseOfTheText) {
  open(48, 2);
  std::string text;
  for (int i = 0; i < 30; ++i) text += "play Jazz caf\u00e9, " + std::to_string(i) + " ";
  const std::string question = "what is it?";
  const Tokenizer& tokenizer = *session_->tokenizer();
  const Known first(tokenizer, text), short_one(tokenizer, question);
  const TextTokens long_tokens = first.tokens(), question_tokens = short_one.tokens();
  for (uint32_t skip = 0; skip < long_tokens.count + 3; skip += 5) {
    for (const TruncationSide side :
         {TruncationSide::kFromFile, TruncationSide::kOnlySecond, TruncationSide::kOnlyFirst, TruncationSide::kNone}) {
      EncodeOptions options;
      options.skip = skip;
      options.truncation = side;
      options.add_special = skip % 2 == 0;
      options.max_tokens = skip % 3 == 0 ? 0 : 20;
      session_->clear();
      const Told alone = told(*session_, session_->add(view(text), {}, options));
      session_->clear();
      EXPECT_EQ(told(*session_, session_->add(long_tokens, nullptr, options)), alone) << skip;
      session_->clear();
      const Told pair = told(*session_, session_->add(view(question), view(text), options));
      session_->clear();
      EXPECT_EQ(told(*session_, session_->add(question_tokens, &long_tokens, options)), pair) << skip;
    }
  }
}

/// Windows are cut from tokens: the text is not read again, and may be gone.
TEST_F(TextTest, LongTextsAreReadOnce) {
  open(48, 1);
  const std::string question = "what is it?";
  const std::vector<convert::Mention> no_mentions;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "play Jazz caf\u00e9, " + std::to_string(i) + " ";
  for (const Text first : {view(text), view(question)}) {
    const bool pair = first.data == question.data();
    std::string read = text;
    EncodeOptions options;
    options.truncation = pair ? TruncationSide::kOnlySecond : TruncationSide::kOnlyFirst;
    session_->clear();
    ASSERT_EQ(session_->add(pair ? first : view(read), pair ? view(read) : Text{}, options), Status::kOk);
    const EncodeResult all = session_->sequence(0).result;
    const convert::LongText windows(*session_->tokenizer(), pair ? first : view(read), pair ? view(read) : Text{}, all,
                                    no_mentions, 0);
    read.assign(read.size(), '?');
    for (options.skip = 0; options.skip < all.content[pair ? 1 : 0]; options.skip += 17) {
      session_->clear();
      const Told expected = told(*session_, session_->add(first, pair ? view(text) : Text{}, options));
      session_->clear();
      EXPECT_EQ(told(*session_, windows.add(*session_, options)), expected) << options.skip;
    }
  }
}

TEST_F(TextTest, TokensWithoutOffsetsAreNoText) {
  open(48, 1);
  const Known some(*session_->tokenizer(), "play some jazz");
  TextTokens tokens = some.tokens();
  tokens.offsets = nullptr;
  EXPECT_EQ(session_->add(tokens, nullptr, {}), Status::kInvalidArgument);
  tokens = some.tokens();
  tokens.ids = nullptr;
  EXPECT_EQ(session_->add(tokens, nullptr, {}), Status::kInvalidArgument);
  EXPECT_EQ(session_->sequence_count(), 0u);
}

TEST_F(TextTest, EmptyAndInvalidTextRuns) {
  open(32, 4);
  const std::string invalid = "\xFF\xC0 light \xE4\xBD";
  ASSERT_EQ(session_->add({"", 0}, {}, {}), Status::kOk);
  EXPECT_EQ(session_->sequence(0).row_count, 2u);
  ASSERT_EQ(session_->add(view(invalid), {}, {}), Status::kOk);
  ASSERT_EQ(session_->run(), Status::kOk);
}

}  // namespace
}  // namespace bantam::testing
