// Tests classify, choose, answer, embed, fill and next sentence with given outputs.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tasks/probability.h"
#include "tests/every_isa.h"
#include "tests/tasks/fake_run.h"

namespace bantam::tests {
namespace {

/// One sequence "a" with one output of one row.
void one_row(FakeRun* run, fb::TaskKind kind, const std::vector<float>& logits,
             fb::OutputRole role = fb::OutputRole::labels) {
  run->task().kind = kind;
  run->add_output({role, static_cast<uint32_t>(logits.size()), false, logits});
  run->add_words("a");
}

TEST(Classify, SoftmaxBestFirstTiesToTheSmallerIndex) {
  FakeRun run;
  run.add_labels(0, label_names(4));
  one_row(&run, fb::TaskKind::classify, {1.0f, 3.0f, 3.0f, -2.0f});
  LabelScore out[4];
  uint32_t count = 0;
  uint32_t above = 9;
  ASSERT_EQ(classify(run.session(), 0, out, 3, &count, &above), Status::kOk);
  ASSERT_EQ(count, 3u);
  EXPECT_EQ(above, 1u);
  EXPECT_EQ(out[0].label, 1u);
  EXPECT_EQ(out[1].label, 2u);
  EXPECT_EQ(out[2].label, 0u);
  EXPECT_EQ(out[0].score, out[1].score);
  const double sum = 2 + std::exp(-2.0) + std::exp(-5.0);
  EXPECT_NEAR(out[0].score, 1 / sum, 1e-6);
  EXPECT_NEAR(out[2].score, std::exp(-2.0) / sum, 1e-6);
}

// The verifier refuses such files, but tasks do not rely on it.
TEST(Heads, OutputsOfOtherRowsAreRefused) {
  FakeRun run;
  run.task().kind = fb::TaskKind::tag;
  run.add_labels(0, label_names(2));
  run.add_output({fb::OutputRole::tags, 2, false, {1.0f, 2.0f}});  // one row for a sequence of five tokens
  run.add_words("a b c");
  LabelScore labels[4];
  Offset spans[4];
  uint32_t count = 0;
  EXPECT_EQ(tag_words(run.session(), 0, {"a b c", 5}, spans, labels, 4, &count), Status::kIndexOutOfRange);
  FakeRun answers;
  answers.task().kind = fb::TaskKind::answer;
  answers.add_output({fb::OutputRole::begin, 1, false, {1.0f}});
  answers.add_output({fb::OutputRole::end, 1, true, {1.0f, 2.0f, 3.0f}});
  answers.add_words("a");
  Answer best;
  EXPECT_EQ(answer(answers.session(), 0, &best), Status::kIndexOutOfRange);
}

TEST(Classify, TemperatureAndRejection) {
  FakeRun run;
  fb::LabelSetT& set = run.add_labels(0, label_names(2));
  set.temperature = 2.0f;
  set.reject_below = 0.8f;
  one_row(&run, fb::TaskKind::classify, {2.0f, 0.0f});
  LabelScore out[2];
  uint32_t count = 0;
  uint32_t above = 9;
  ASSERT_EQ(classify(run.session(), 0, out, 2, &count, &above), Status::kOk);
  EXPECT_NEAR(out[0].score, 1 / (1 + std::exp(-1.0)), 1e-6);  // 0.731
  EXPECT_EQ(above, 0u);
  set.reject_below = 0.7f;
  ASSERT_EQ(classify(run.session(), 0, out, 2, &count, &above), Status::kOk);
  EXPECT_EQ(above, 1u);
}

TEST(Classify, MultiLabelCountsThoseOverTheThreshold) {
  FakeRun run;
  run.add_labels(0, label_names(4)).threshold = 0.6f;
  one_row(&run, fb::TaskKind::multi_label, {0.0f, 2.0f, -3.0f, 0.5f});
  LabelScore out[4];
  uint32_t count = 0;
  uint32_t above = 9;
  ASSERT_EQ(classify(run.session(), 0, out, 4, &count, &above), Status::kOk);
  EXPECT_EQ(above, 2u);
  EXPECT_EQ(out[0].label, 1u);
  EXPECT_EQ(out[1].label, 3u);
  for (const LabelScore& label : out) {
    const float logits[] = {0.0f, 2.0f, -3.0f, 0.5f};
    EXPECT_NEAR(label.score, 1 / (1 + std::exp(-static_cast<double>(logits[label.label]))), 1e-6);
  }
}

TEST(Classify, RegressionGivesRawValuesInOrder) {
  FakeRun run;
  run.add_labels(0, label_names(2));
  one_row(&run, fb::TaskKind::regress, {-1.5f, 4.25f});
  LabelScore out[2];
  uint32_t count = 0;
  ASSERT_EQ(classify(run.session(), 0, out, 2, &count), Status::kOk);
  EXPECT_EQ(out[0].label, 0u);
  EXPECT_EQ(out[0].score, -1.5f);
  EXPECT_EQ(out[1].score, 4.25f);
}

TEST(Classify, RefusesOtherTasksBadArgumentsAndNoRun) {
  FakeRun run;
  run.add_labels(0, label_names(2));
  one_row(&run, fb::TaskKind::classify, {0.0f, 1.0f});
  LabelScore out[2];
  uint32_t count = 0;
  EXPECT_EQ(classify(run.session(false), 0, out, 2, &count), Status::kNotRun);
  EXPECT_EQ(classify(run.session(), 1, out, 2, &count), Status::kIndexOutOfRange);
  EXPECT_EQ(classify(run.session(), 0, nullptr, 2, &count), Status::kInvalidArgument);
  EXPECT_EQ(classify(run.session(), 0, out, 0, &count), Status::kOk);
  EXPECT_EQ(count, 0u);
  run.task().kind = fb::TaskKind::embed;
  EXPECT_EQ(classify(run.session(), 0, out, 2, &count), Status::kNoSuchTask);
}

RC_GTEST_PROP(Classify, ScoresSumToOneAndDescend, ()) {
  const auto tenths = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(-200, 200)));
  std::vector<float> logits;
  for (const int value : tenths) logits.push_back(static_cast<float>(value) / 10);
  FakeRun run;
  run.add_labels(0, label_names(logits.size()));
  one_row(&run, fb::TaskKind::classify, logits);
  std::vector<LabelScore> out(logits.size());
  uint32_t count = 0;
  RC_ASSERT(classify(run.session(), 0, out.data(), static_cast<uint32_t>(out.size()), &count) == Status::kOk);
  RC_ASSERT(count == out.size());
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i) {
    sum += static_cast<double>(out[i].score);
    if (i == 0) continue;
    const float before = logits[out[i - 1].label];
    const float here = logits[out[i].label];
    RC_ASSERT(before > here || (before == here && out[i - 1].label < out[i].label));
  }
  RC_ASSERT(std::fabs(sum - 1) < 1e-5);
}

TEST(Probability, SameBitsFromEveryTable) {
  std::vector<float> values;
  for (int i = 0; i < 700; ++i) values.push_back(std::sin(static_cast<float>(i)) * 9);
  const tasks::Logits row{values.data(), 1, static_cast<uint32_t>(values.size())};
  const tasks::Probability reference;
  const tasks::Softmax wanted = reference.softmax(row, 1.5f);
  for (const Isa isa : testing::every_isa()) {
    if (!isa_available(isa)) continue;
    const tasks::Probability math(*kernels::table(isa));
    const tasks::Softmax found = math.softmax(row, 1.5f);
    EXPECT_EQ(found.sum, wanted.sum);
    EXPECT_EQ(math.of(found, values[3]), reference.of(wanted, values[3]));
    EXPECT_EQ(math.sigmoid(0.3f), reference.sigmoid(0.3f));
  }
}

TEST(Choose, SoftmaxOverSequences) {
  FakeRun run;
  run.task().kind = fb::TaskKind::choose;
  run.add_output({fb::OutputRole::choice, 1, false, {9.0f, 0.0f, 2.0f, 1.0f}});
  for (int i = 0; i < 4; ++i) run.add_words("a");
  LabelScore out[3];
  uint32_t count = 0;
  ASSERT_EQ(choose(run.session(), 1, 3, out, 3, &count), Status::kOk);
  ASSERT_EQ(count, 3u);
  EXPECT_EQ(out[0].label, 1u);
  EXPECT_EQ(out[1].label, 2u);
  EXPECT_NEAR(out[0].score, 1 / (1 + std::exp(-1.0) + std::exp(-2.0)), 1e-6);
  EXPECT_EQ(choose(run.session(), 2, 3, out, 3, &count), Status::kIndexOutOfRange);
}

/// [CLS] q [SEP] c0 c1 c2 c3 [SEP]; context token i is bytes [2 i, 2 i + 1).
void question(FakeRun* run, const std::vector<float>& start, const std::vector<float>& end) {
  run->task().kind = fb::TaskKind::answer;
  run->add_output({fb::OutputRole::begin, 1, true, start});
  run->add_output({fb::OutputRole::end, 1, true, end});
  run->add_sequence(
      {{{0, 0}, 255}, {{0, 1}, 0}, {{0, 0}, 255}, {{0, 1}, 1}, {{2, 3}, 1}, {{4, 5}, 1}, {{6, 7}, 1}, {{0, 0}, 255}});
}

TEST(Answer, BestValidSpanInTheContext) {
  FakeRun run;
  // The question and special tokens have the highest scores, and so does an end before its start: none of these may
  // win.
  question(&run, {9, 9, 9, 0, 1, 4, 0, 9}, {9, 9, 9, 5, 0, 0, 3, 9});
  Answer found;
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  EXPECT_TRUE(found.answerable);
  EXPECT_EQ(found.span.begin, 4u);
  EXPECT_EQ(found.span.end, 7u);
  EXPECT_EQ(found.logit, 7.0f);
  double sum = 0;
  const double starts[] = {0, 1, 4, 0};
  const double ends[] = {5, 0, 0, 3};
  for (int i = 0; i < 4; ++i) {
    for (int j = i; j < 4; ++j) sum += std::exp(starts[i] + ends[j] - 7);
  }
  EXPECT_NEAR(found.score, 1 / sum, 1e-6);
  run.task().max_answer_tokens = 1;
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  EXPECT_EQ(found.span.begin, 0u);
  EXPECT_EQ(found.span.end, 1u);
}

TEST(Answer, TiesGoToTheEarlierAndShorter) {
  FakeRun run;
  question(&run, {0, 0, 0, 1, 1, 1, 1, 0}, {0, 0, 0, 1, 1, 1, 1, 0});
  Answer found;
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  EXPECT_EQ(found.span.begin, 0u);
  EXPECT_EQ(found.span.end, 1u);
}

TEST(Answer, NoAnswerWhereTheFileKnowsIt) {
  FakeRun run;
  question(&run, {4, 0, 0, 1, 0, 0, 0, 0}, {4, 0, 0, 1, 0, 0, 0, 0});
  Answer found;
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  EXPECT_TRUE(found.answerable);
  EXPECT_EQ(found.no_answer, 8.0f);
  run.task().no_answer = true;
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  EXPECT_FALSE(found.answerable);
  EXPECT_GT(found.score, 0.9f);
  run.task().no_answer_threshold = 7;
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  EXPECT_TRUE(found.answerable);
}

TEST(Answer, EmptyContextHasNone) {
  FakeRun run;
  run.task().kind = fb::TaskKind::answer;
  run.add_output({fb::OutputRole::begin, 1, true, {0, 0, 0}});
  run.add_output({fb::OutputRole::end, 1, true, {0, 0, 0}});
  run.add_sequence({{{0, 0}, 255}, {{0, 1}, 0}, {{0, 0}, 255}});
  Answer found;
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  EXPECT_FALSE(found.answerable);
  EXPECT_EQ(found.mass, 0.0f);
}

/// question() whose ends are searched after the two best beginnings, rows 5 and 4.
void searched_question(FakeRun* run, float none) {
  question(run, {0, 0, 0, 0, 1.5f, 2, 0, 0}, {0, 0, 0, 0, 0, 1, 3, 4});
  run->add_output({fb::OutputRole::end, 1, true, {0, 0, 0, 5, 0, 4, 0, 0}});
  run->add_output({fb::OutputRole::unanswerable, 1, false, {none}});
  run->task().beam_ends = 2;
}

/// Returns element i of the softmax of these logits.
double share_of(const std::vector<double>& logits, size_t i) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  return std::exp(logits[i]) / sum;
}

TEST(Answer, EndsAreSearchedBehindTheBestBeginnings) {
  FakeRun run;
  searched_question(&run, -2);
  Answer found;
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  const std::vector<double> starts = {0, 0, 0, 0, 1.5, 2, 0, 0};
  // The likeliest end after row 5 is a special token, and that after row 4 precedes it, so the second ones count.
  const double first = share_of(starts, 5) + share_of({0, 0, 0, 0, 0, 1, 3, 4}, 6);
  const double second = share_of(starts, 4) + share_of({0, 0, 0, 5, 0, 4, 0, 0}, 5);
  EXPECT_TRUE(found.answerable);
  EXPECT_EQ(found.span.begin, 4u);
  EXPECT_EQ(found.span.end, 7u);
  EXPECT_NEAR(found.logit, first, 1e-6);
  EXPECT_NEAR(found.mass, 1 + std::exp(second - first), 1e-6);
  EXPECT_NEAR(found.score, 1 / (1 + std::exp(second - first)), 1e-6);
  EXPECT_EQ(found.no_answer, -2.0f);
  run.task().max_answer_tokens = 1;  // every span is longer
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  EXPECT_FALSE(found.answerable);
  EXPECT_EQ(found.mass, 0.0f);
}

TEST(Answer, TheLikeliestEndsOnlyAreSearched) {
  FakeRun run;
  searched_question(&run, 0);
  run.task().beam_ends = 1;
  Answer found;
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  EXPECT_FALSE(found.answerable);
  EXPECT_EQ(found.score, 0.0f);
}

TEST(Answer, ASearchHasItsOwnScoreForNone) {
  FakeRun run;
  searched_question(&run, 1.5f);
  run.task().no_answer = true;
  Answer found;
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  EXPECT_FALSE(found.answerable);
  EXPECT_NEAR(found.score, 1 / (1 + std::exp(-1.5)), 1e-6);
  run.task().no_answer_threshold = 2;
  ASSERT_EQ(answer(run.session(), 0, &found), Status::kOk);
  EXPECT_TRUE(found.answerable);
  // Another window: the lower score for "no answer" and the better span count.
  FakeRun other;
  searched_question(&other, -3);
  other.task().no_answer = true;
  Answer merged;
  ASSERT_EQ(answer(other.session(), 0, &merged), Status::kOk);
  ASSERT_EQ(merge_answer(other.model(), found, &merged), Status::kOk);
  EXPECT_TRUE(merged.answerable);
  EXPECT_EQ(merged.no_answer, -3.0f);
  EXPECT_EQ(merged.logit, found.logit);
  EXPECT_NEAR(merged.mass, 2 * found.mass, 1e-6);
}

TEST(Answer, ASearchWithoutAllOfItsScoresIsNone) {
  FakeRun run;
  question(&run, {0, 0, 0, 0, 1, 2, 0, 0}, {0, 0, 0, 0, 0, 1, 3, 4});
  run.task().beam_ends = 2;
  Answer found;
  EXPECT_EQ(answer(run.session(), 0, &found), Status::kNoSuchTask);
}

TEST(Answer, WindowsMergeAsOneSetOfSpans) {
  FakeRun first;
  FakeRun second;
  question(&first, {3, 0, 0, 0, 2, 0, 0, 0}, {0, 0, 0, 0, 2, 0, 0, 0});
  question(&second, {1, 0, 0, 0, 0, 3, 0, 0}, {0, 0, 0, 0, 0, 3, 0, 0});
  Answer a;
  Answer b;
  ASSERT_EQ(answer(first.session(), 0, &a), Status::kOk);
  ASSERT_EQ(answer(second.session(), 0, &b), Status::kOk);
  Answer merged = a;
  ASSERT_EQ(merge_answer(first.model(), b, &merged), Status::kOk);
  EXPECT_EQ(merged.span.begin, 4u);
  EXPECT_EQ(merged.logit, 6.0f);
  EXPECT_EQ(merged.no_answer, 1.0f);
  EXPECT_NEAR(merged.score, 1 / (b.mass + a.mass * std::exp(-2.0f)), 1e-6);
  Answer swapped = b;
  ASSERT_EQ(merge_answer(first.model(), a, &swapped), Status::kOk);
  EXPECT_EQ(swapped.span.begin, merged.span.begin);
  EXPECT_NEAR(swapped.score, merged.score, 1e-6);
}

TEST(Embed, IsTheOutputOfThatRole) {
  FakeRun run;
  run.task().kind = fb::TaskKind::embed;
  run.add_output({fb::OutputRole::none, 2, true, {1, 1, 2, 2, 3, 3}});
  run.add_output({fb::OutputRole::none, 2, false, {4, 5}});
  run.add_words("a");
  const float* values = nullptr;
  uint32_t width = 0;
  EXPECT_NE(embed(run.session(), 0, &values, &width), Status::kOk);
  run.add_output({fb::OutputRole::embedding, 3, false, {6, 7, 8}});
  ASSERT_EQ(embed(run.session(), 0, &values, &width), Status::kOk);
  EXPECT_EQ(width, 3u);
  EXPECT_EQ(values[2], 8.0f);
}

TEST(Fill, BestTokensOfEachMask) {
  FakeRun run;
  run.task().kind = fb::TaskKind::fill;
  run.set_mask_id(4);
  run.add_output({fb::OutputRole::words, 3, true, {0, 0, 0, 1, 5, 2, 0, 0, 0, 7, 0, 7}});
  run.add_sequence({{{0, 0}, 255, 1}, {{0, 6}, 0, 4}, {{7, 8}, 0, 2}, {{9, 15}, 0, 4}});
  Candidate out[2];
  uint32_t count = 0;
  ASSERT_EQ(fill(run.session(), 0, 0, out, 2, &count), Status::kOk);
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(out[0].id, 1);
  EXPECT_EQ(out[1].id, 2);
  EXPECT_NEAR(out[0].score, 1 / (1 + std::exp(-3.0) + std::exp(-4.0)), 1e-6);
  ASSERT_EQ(fill(run.session(), 0, 1, out, 2, &count), Status::kOk);
  EXPECT_EQ(out[0].id, 0);
  EXPECT_EQ(out[1].id, 2);
  EXPECT_EQ(fill(run.session(), 0, 2, out, 2, &count), Status::kIndexOutOfRange);
}

TEST(NextSentence, FirstLogitMeansNext) {
  FakeRun run;
  one_row(&run, fb::TaskKind::next_sentence, {1.0f, -1.0f}, fb::OutputRole::next);
  float probability = 0;
  ASSERT_EQ(next_sentence(run.session(), 0, &probability), Status::kOk);
  EXPECT_NEAR(probability, 1 / (1 + std::exp(-2.0)), 1e-6);
  FakeRun both;
  one_row(&both, fb::TaskKind::pretraining, {-1.0f, 1.0f}, fb::OutputRole::next);
  ASSERT_EQ(next_sentence(both.session(), 0, &probability), Status::kOk);
  EXPECT_NEAR(probability, 1 / (1 + std::exp(2.0)), 1e-6);
}

}  // namespace
}  // namespace bantam::tests
