// Words and their labels, truncation, and windows over long text.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tasks/words.h"
#include "tests/tasks/fake_run.h"

namespace bantam::tests {
namespace {

Text view(const std::string& text) { return {text.data(), text.size()}; }

std::vector<std::string> words_of(const std::string& text, bool blank_words = true) {
  std::vector<std::string> words;
  for (Offset word = tasks::next_word(view(text), 0, blank_words); word.begin < word.end;
       word = tasks::next_word(view(text), word.end, blank_words)) {
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
  EXPECT_EQ(words_of("a\u200Bb"), (List{"a\u200Bb"}));                        // zero-width space: not White_Space
  EXPECT_EQ(words_of("\xFF\xFE x"), (List{"\xFF\xFE", "x"}));
}

TEST(Words, PunctuationAndChineseCharactersAreWordsOfTheirOwn) {
  using List = std::vector<std::string>;
  EXPECT_EQ(words_of("", false), List{});
  EXPECT_EQ(words_of(" \t\n", false), List{});
  EXPECT_EQ(words_of("rain in (Paris)?", false), (List{"rain", "in", "(", "Paris", ")", "?"}));
  EXPECT_EQ(words_of("  don't ", false), (List{"don", "'", "t"}));
  EXPECT_EQ(words_of("\u6211\u4EEC\u53BB Rom\u3002", false), (List{"\u6211", "\u4EEC", "\u53BB", "Rom", "\u3002"}));
  EXPECT_EQ(words_of("\xFF\xFE x", false), (List{"\xFF\xFE", "x"}));
}

/// Prepares a tag model over {"O", "B-x", "I-x"}; `best` gives the label of each token row.
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

/// Returns the names and texts of the entities in "rain in (Par|is)? 北京|go", with token boundaries at these marks and
/// at blanks.
std::vector<std::string> tagged(Aggregation aggregation, fb::Aggregation stored = fb::Aggregation::words) {
  FakeRun run;
  const std::string text = "rain in (Paris)? \u5317\u4EAC go";
  //            rain in ( Par is ) ? 北京 go
  prepare(&run, {0, 0, 0, 0, 1, 0, 2, 0, 1, 0, 0});
  run.task().blank_words = false;
  run.task().label_sets.front()->aggregation = stored;
  run.add_sequence({{{0, 0}, 255},
                    {{0, 4}},
                    {{5, 7}},
                    {{8, 9}},
                    {{9, 12}},
                    {{12, 14}},
                    {{14, 15}},
                    {{15, 16}},
                    {{17, 23}},
                    {{24, 26}},
                    {{0, 0}, 255}});
  Entity found[8];
  uint32_t count = 0;
  EXPECT_EQ(tag(run.session(), 0, view(text), found, 8, &count, kTaskSet, aggregation), Status::kOk);
  std::vector<std::string> list;
  for (uint32_t i = 0; i < count; ++i) {
    list.push_back(std::string(found[i].name.data, found[i].name.size) + ":" +
                   text.substr(found[i].span.begin, found[i].span.end - found[i].span.begin));
  }
  return list;
}

TEST(Aggregation, EachStrategyHasItsWords) {
  using List = std::vector<std::string>;
  // A token that overlaps two words joins them. The bracket has a label but is not part of an entity.
  EXPECT_EQ(tagged(Aggregation::kWords), (List{"x:Paris", "x:\u5317\u4EAC"}));
  EXPECT_EQ(tagged(Aggregation::kNone), (List{"B-x:Par", "I-x:)", "B-x:\u5317\u4EAC"}));
  EXPECT_EQ(tagged(Aggregation::kSimple), (List{"x:Par", "x:)", "x:\u5317\u4EAC"}));
  // Tokens do not mark continuations of words, so blanks decide.
  EXPECT_EQ(tagged(Aggregation::kFirst), (List{"x:\u5317\u4EAC"}));
  EXPECT_EQ(tagged(Aggregation::kMax), (List{"x:\u5317\u4EAC"}));
  EXPECT_EQ(tagged(Aggregation::kAverage), (List{"x:\u5317\u4EAC"}));
  EXPECT_EQ(tagged(Aggregation::kFile), tagged(Aggregation::kWords));
  EXPECT_EQ(tagged(Aggregation::kFile, fb::Aggregation::none), tagged(Aggregation::kNone));
}

TEST(Tag, MarksThatTouchWordsPartEntitiesButBelongToNone) {
  const auto found_in = [](const std::string& text, const std::vector<uint32_t>& labels) {
    FakeRun run;
    prepare(&run, labels);
    run.task().blank_words = false;
    std::vector<FakeToken> tokens;
    for (Offset word = tasks::next_word(view(text), 0, false); word.begin < word.end;
         word = tasks::next_word(view(text), word.end, false)) {
      tokens.push_back({word});
    }
    EXPECT_EQ(tokens.size(), labels.size()) << text;
    run.add_sequence(tokens);
    Entity found[8];
    uint32_t count = 0;
    EXPECT_EQ(tag(run.session(), 0, view(text), found, 8, &count), Status::kOk);
    std::string list;
    for (uint32_t i = 0; i < count; ++i) {
      list += "[" + text.substr(found[i].span.begin, found[i].span.end - found[i].span.begin) + "]";
    }
    return list;
  };
  EXPECT_EQ(found_in("in (Paris)?", {0, 1, 2, 2, 1}), "[Paris]");
  EXPECT_EQ(found_in("\u201CRom\u201D\u3002", {1, 2, 2, 1}), "[Rom]");
  EXPECT_EQ(found_in("Ann-Lee", {1, 2, 2}), "[Ann-Lee]");
  EXPECT_EQ(found_in("Ann-Lee", {1, 0, 2}), "[Ann][Lee]");
  EXPECT_EQ(found_in("Ann - Lee !", {1, 2, 2, 2}), "[Ann - Lee !]");  // each is a word of its own
  EXPECT_EQ(found_in("$5 or 6%", {1, 2, 0, 1, 2}), "[$5][6%]");
}

/// Returns the label of a word whose tokens have these logits; `score` receives the score of its entity.
uint32_t label_of_word(const std::vector<float>& logits, uint32_t labels, Aggregation aggregation, float* score) {
  FakeRun run;
  run.task().kind = fb::TaskKind::tag;
  const auto tokens = static_cast<uint32_t>(logits.size()) / labels;
  run.add_labels(0, label_names(labels));
  run.add_output({fb::OutputRole::tags, labels, true, logits});
  std::vector<FakeToken> sequence;
  for (uint32_t i = 0; i < tokens; ++i) sequence.push_back({{i, i + 1}});
  run.add_sequence(sequence);
  const std::string text(tokens, 'a');
  Offset span;
  LabelScore label;
  uint32_t count = 0;
  EXPECT_EQ(tag_words(run.session(), 0, view(text), &span, &label, 1, &count, kTaskSet, aggregation), Status::kOk);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(span.end, tokens);
  *score = label.score;
  return label.label;
}

TEST(Aggregation, FirstMaxAndAverageChooseTheLabelOfAWord) {
  // The probabilities are .5 .3 .2, .1 .8 .1, .3 .1 .6.
  const std::vector<float> p = {0.5f, 0.3f, 0.2f, 0.1f, 0.8f, 0.1f, 0.3f, 0.1f, 0.6f};
  std::vector<float> logits;
  for (const float x : p) logits.push_back(std::log(x));
  float score = 0;
  EXPECT_EQ(label_of_word(logits, 3, Aggregation::kFirst, &score), 0u);
  EXPECT_NEAR(score, 0.5f, 1e-6);
  EXPECT_EQ(label_of_word(logits, 3, Aggregation::kMax, &score), 1u);
  EXPECT_NEAR(score, 0.8f, 1e-6);
  EXPECT_EQ(label_of_word(logits, 3, Aggregation::kAverage, &score), 1u);
  EXPECT_NEAR(score, 0.4f, 1e-6);
  // Ties: the first token and the first label win.
  const std::vector<float> same = {1.0f, 0.0f, 0.0f, 1.0f};
  EXPECT_EQ(label_of_word(same, 2, Aggregation::kMax, &score), 0u);
  EXPECT_EQ(label_of_word(same, 2, Aggregation::kAverage, &score), 0u);
}

TEST(Aggregation, AveragesMoreLabelsThanABlockHolds) {
  constexpr uint32_t kLabels = 700;
  std::vector<float> logits(2 * kLabels, 0.0f);
  logits[3] = 6;
  logits[650] = 5.9f;
  logits[kLabels + 650] = 5.9f;
  float score = 0;
  EXPECT_EQ(label_of_word(logits, kLabels, Aggregation::kAverage, &score), 650u);
  const double first = std::exp(5.9) / (698 + std::exp(6.0) + std::exp(5.9));
  const double second = std::exp(5.9) / (699 + std::exp(5.9));
  EXPECT_NEAR(score, (first + second) / 2, 1e-5);
}

TEST(Aggregation, RefusesValuesThatAreNone) {
  FakeRun run;
  prepare(&run, {0, 0, 0});
  run.add_words("a");
  uint32_t count = 0;
  Entity entity;
  EXPECT_EQ(tag(run.session(), 0, view("a"), &entity, 1, &count, kTaskSet, static_cast<Aggregation>(6)),
            Status::kInvalidArgument);
  EXPECT_EQ(entities(run.model(), 0, nullptr, nullptr, 0, &entity, 1, &count, static_cast<Aggregation>(6)),
            Status::kInvalidArgument);
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

/// Words that get no label, such as brackets in an entity, are not examined again in every later window.
TEST(Windows, GoOnBehindMarksWithoutALabel) {
  FakeRun run;
  prepare(&run, {0, 1, 1, 1, 0});
  run.task().blank_words = false;
  run.add_sequence({{{0, 0}, 255}, {{0, 1}}, {{1, 2}}, {{2, 3}}, {{0, 0}, 255}});
  Offset spans[4];
  LabelScore labels[4];
  uint32_t count = 0, resume = 0;
  ASSERT_EQ(tag_window(run.session(), 0, view("((("), {0, 3, 0, 3}, &resume, spans, labels, 4, &count), Status::kOk);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(resume, 3u);
}

TEST(Tag, TokensBeyondTheTextAreNotRead) {
  FakeRun run;
  prepare(&run, {0, 1, 1, 0});
  run.add_sequence({{{0, 0}, 255}, {{0, 1}}, {{1u << 30, (1u << 30) + 4}}, {{0, 0}, 255}});
  for (const Aggregation how :
       {Aggregation::kWords, Aggregation::kFirst, Aggregation::kAverage, Aggregation::kSimple}) {
    Offset spans[4];
    LabelScore labels[4];
    uint32_t count = 0;
    ASSERT_EQ(tag_words(run.session(), 0, view("a b"), spans, labels, 4, &count, kTaskSet, how), Status::kOk);
    EXPECT_EQ(count, 1u);
  }
}

/// Labels every piece with a hash of its number, so that a word labeled by the wrong piece is detected.
uint32_t label_of_piece(uint32_t piece) { return piece * 2654435761u >> 20 & 1u; }

RC_GTEST_PROP(Windows, WordsAreLabelledAsInOnePass, ()) {
  // Words of 1 to 5 pieces of one byte each, separated by blanks.
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
  const auto how = *rc::gen::element(Aggregation::kWords, Aggregation::kFirst, Aggregation::kSimple);
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
                         static_cast<uint32_t>(spans.size()) - words, &count, kTaskSet, how) == Status::kOk);
    words += count;
  }
  if (how == Aggregation::kSimple) {
    RC_ASSERT(words == pieces.size());
    for (uint32_t w = 0; w < words; ++w) {
      RC_ASSERT(spans[w].begin == pieces[w].begin);
      RC_ASSERT(labels[w].label == label_of_piece(w));
    }
    return;
  }
  RC_ASSERT(words == lengths.size());
  uint32_t piece = 0;
  for (uint32_t w = 0; w < words; ++w) {
    RC_ASSERT(spans[w].begin == pieces[piece].begin);
    // If a window ends inside a word, kFirst uses the visible part.
    if (how == Aggregation::kWords) RC_ASSERT(spans[w].end == pieces[piece].begin + lengths[w]);
    RC_ASSERT(labels[w].label == label_of_piece(piece));
    piece += lengths[w];
  }
}

}  // namespace
}  // namespace bantam::tests
