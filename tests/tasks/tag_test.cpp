// Words, their labels, truncation, and windows over long text.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "tasks/words.h"
#include "tests/tasks/fake_run.h"

namespace bantam::tests {
namespace {

Text view(const std::string& text) { return {text.data(), text.size()}; }

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (Offset word = tasks::next_blank_word(view(text), 0); word.begin < word.end;
       word = tasks::next_blank_word(view(text), word.end)) {
    words.push_back(text.substr(word.begin, word.end - word.begin));
  }
  return words;
}

TEST(Words, AreMaximalRunsOfNonBlanks) {
  using List = std::vector<std::string>;
  EXPECT_EQ(words_of(""), List{});
  EXPECT_EQ(words_of(" \t\n"), List{});
  EXPECT_EQ(words_of("  don't  stop."), (List{"don't", "stop."}));
  EXPECT_EQ(words_of("a\u00A0b\u3000c\u2003d"), (List{"a", "b", "c", "d"}));  // no-break, ideographic, em space
  EXPECT_EQ(words_of("a\u200Bb"), (List{"a\u200Bb"}));                        // zero width: no White_Space
  EXPECT_EQ(words_of("\xFF\xFE x"), (List{"\xFF\xFE", "x"}));
}

/// Tag model over {"O", "B-x", "I-x"}; `best` gives the label of each token row.
void prepare(FakeRun* run, const std::vector<uint32_t>& best) {
  run->task().kind = fb::TaskKind::tag;
  run->add_labels(0, {"O", "B-x", "I-x"}, fb::TagScheme::iob2);
  FakeOutput output{fb::OutputRole::tags, 3, true, {}};
  for (const uint32_t label : best) {
    for (uint32_t i = 0; i < 3; ++i) output.values.push_back(i == label ? 5.0f : 0.0f);
  }
  run->add_output(output);
}

TEST(Tag, LabelsComeFromFirstPieces) {
  FakeRun run;
  const std::string text = "unbelievable York city";
  prepare(&run, {0, 1, 2, 2, 0, 2, 0});
  // "un" "##believable" "York" "ci" "##ty" between two special tokens.
  run.add_sequence({{{0, 0}, 255}, {{0, 2}}, {{2, 12}}, {{13, 17}}, {{18, 20}}, {{20, 22}}, {{0, 0}, 255}});
  Offset spans[4];
  LabelScore labels[4];
  uint32_t count = 0;
  ASSERT_EQ(tag_words(run.session(), 0, view(text), spans, labels, 4, &count), Status::kOk);
  ASSERT_EQ(count, 3u);
  EXPECT_EQ(spans[0].end, 12u);
  EXPECT_EQ(labels[0].label, 1u);
  EXPECT_EQ(labels[1].label, 2u);
  EXPECT_EQ(labels[2].label, 0u);
  EXPECT_NEAR(labels[0].score, 0.98670f, 1e-4);
  Entity found[2];
  ASSERT_EQ(tag(run.session(), 0, view(text), found, 2, &count), Status::kOk);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(found[0].span.begin, 0u);
  EXPECT_EQ(found[0].span.end, 17u);
}

TEST(Tag, TruncatedWordsAreNotLabelled) {
  FakeRun run;
  prepare(&run, {0, 1, 0});
  run.add_sequence({{{0, 0}, 255}, {{0, 3}}, {{0, 0}, 255}});
  Offset spans[4];
  LabelScore labels[4];
  uint32_t count = 9;
  ASSERT_EQ(tag_words(run.session(), 0, view("one two three"), spans, labels, 4, &count), Status::kOk);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(tag_words(run.session(), 0, view("one two three"), spans, labels, 0, &count), Status::kBufferTooSmall);
  EXPECT_EQ(count, 1u);
}

TEST(Tag, WordsThatVanishAreLeftOut) {
  FakeRun run;
  prepare(&run, {0, 1, 1, 0});
  const std::string text("a \x01\x02 b", 6);  // the tokenizer removes control characters
  run.add_sequence({{{0, 0}, 255}, {{0, 1}}, {{5, 6}}, {{0, 0}, 255}});
  Offset spans[4];
  LabelScore labels[4];
  uint32_t count = 0;
  ASSERT_EQ(tag_words(run.session(), 0, view(text), spans, labels, 4, &count), Status::kOk);
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(spans[1].begin, 5u);
}

TEST(Tag, RefusesOtherTasksAndNoRun) {
  FakeRun run;
  prepare(&run, {0, 0, 0});
  run.add_words("a");
  uint32_t count = 0;
  EXPECT_EQ(tag_words(run.session(false), 0, view("a"), nullptr, nullptr, 0, &count), Status::kNotRun);
  run.task().kind = fb::TaskKind::classify;
  EXPECT_EQ(tag_words(run.session(), 0, view("a"), nullptr, nullptr, 0, &count), Status::kNoSuchTask);
}

TEST(Windows, FollowEachOtherAndMeetInTheOverlap) {
  const WindowPlan plan{10, 4, 2};
  ASSERT_EQ(window_count(plan), 4u);
  EXPECT_EQ(window_at(plan, 0).own_end, 3u);
  EXPECT_EQ(window_at(plan, 1).skip, 2u);
  EXPECT_EQ(window_at(plan, 1).own_begin, 3u);
  EXPECT_EQ(window_at(plan, 3).skip, 6u);
  EXPECT_EQ(window_at(plan, 3).own_end, 10u);
  EXPECT_EQ(window_count({4, 4, 0}), 1u);
  EXPECT_EQ(window_count({0, 4, 0}), 1u);
  EXPECT_EQ(window_count({5, 4, 3}), 2u);
}

RC_GTEST_PROP(Windows, EveryTokenIsDecidedOnceInsideItsWindow, ()) {
  WindowPlan plan;
  plan.total = *rc::gen::inRange<uint32_t>(0, 500);
  plan.size = *rc::gen::inRange<uint32_t>(1, 40);
  plan.overlap = *rc::gen::inRange<uint32_t>(0, plan.size);
  uint32_t decided = 0;
  const uint32_t count = window_count(plan);
  for (uint32_t i = 0; i < count; ++i) {
    const Window window = window_at(plan, i);
    RC_ASSERT(window.own_begin == decided);
    RC_ASSERT(window.own_begin >= window.skip);
    RC_ASSERT(window.own_end <= window.skip + window.size);
    RC_ASSERT(window.own_end > window.own_begin || plan.total == 0);
    decided = window.own_end;
  }
  RC_ASSERT(decided == plan.total);
}

/// Every piece is labelled with a hash of its number, so that a word labelled by the wrong piece shows.
uint32_t label_of_piece(uint32_t piece) { return piece * 2654435761u >> 20 & 1u; }

RC_GTEST_PROP(Windows, WordsAreLabelledAsInOnePass, ()) {
  // Words of 1 to 5 pieces of one byte each, blanks between.
  const auto lengths = *rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(1, 6));
  std::string text;
  std::vector<Offset> pieces;
  for (const uint32_t length : lengths) {
    if (!text.empty()) text += ' ';
    for (uint32_t i = 0; i < length; ++i) {
      pieces.push_back({static_cast<uint32_t>(text.size()), static_cast<uint32_t>(text.size()) + 1});
      text += 'a';
    }
  }
  WindowPlan plan;
  plan.total = static_cast<uint32_t>(pieces.size());
  plan.size = *rc::gen::inRange<uint32_t>(1, 20);
  plan.overlap = *rc::gen::inRange<uint32_t>(0, plan.size);
  std::vector<Offset> spans(text.size() + 1);
  std::vector<LabelScore> labels(text.size() + 1);
  uint32_t words = 0;
  uint32_t resume = 0;
  for (uint32_t i = 0; i < window_count(plan) && plan.total > 0; ++i) {
    const Window window = window_at(plan, i);
    FakeRun run;
    std::vector<FakeToken> tokens = {{{0, 0}, 255}};
    std::vector<uint32_t> best = {0};
    for (uint32_t piece = window.skip; piece < window.skip + window.size; ++piece) {
      tokens.push_back({pieces[piece], 0});
      best.push_back(label_of_piece(piece));
    }
    prepare(&run, best);
    run.add_sequence(tokens);
    uint32_t count = 0;
    RC_ASSERT(tag_window(run.session(), 0, view(text), window, &resume, spans.data() + words, labels.data() + words,
                         static_cast<uint32_t>(spans.size()) - words, &count) == Status::kOk);
    words += count;
  }
  RC_ASSERT(words == lengths.size());
  uint32_t piece = 0;
  for (uint32_t w = 0; w < words; ++w) {
    RC_ASSERT(spans[w].begin == pieces[piece].begin);
    RC_ASSERT(spans[w].end == pieces[piece].begin + lengths[w]);
    RC_ASSERT(labels[w].label == label_of_piece(piece));
    piece += lengths[w];
  }
}

}  // namespace
}  // namespace bantam::tests
