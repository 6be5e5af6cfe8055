// Several label sets, and hierarchical labels, compared with their definitions in double precision.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/tasks/fake_run.h"

namespace bantam::tests {
namespace {

struct Tree {
  std::vector<float> logits;
  std::vector<int32_t> parents;
};

/// Every label has no parent or any other as parent, in any order of numbers, with at most kMostLevels levels.
Tree any_tree() {
  const auto labels = *rc::gen::inRange<size_t>(1, 60);
  std::vector<int32_t> order(labels);
  for (size_t i = 0; i < labels; ++i) order[i] = static_cast<int32_t>(i);
  for (size_t i = labels; i > 1; --i) std::swap(order[i - 1], order[*rc::gen::inRange<size_t>(0, i)]);
  Tree tree;
  tree.parents.assign(labels, -1);
  std::vector<uint32_t> levels(labels, 1);
  for (size_t i = 0; i < labels; ++i) {
    tree.logits.push_back(static_cast<float>(*rc::gen::inRange(-4000, 4000)) / 500.0f);
    const auto above = *rc::gen::inRange<size_t>(0, i + 1);
    if (above == i || levels[above] == kMostLevels) continue;
    tree.parents[static_cast<size_t>(order[i])] = order[above];
    levels[i] = levels[above] + 1;
  }
  return tree;
}

void set_up(FakeRun* run, fb::TaskKind kind, const Tree& tree, float temperature) {
  run->task().kind = kind;
  fb::LabelSetT& set = run->add_labels(0, label_names(tree.logits.size()));
  set.temperature = temperature;
  set.parents = tree.parents;
  run->add_output({fb::OutputRole::labels, static_cast<uint32_t>(tree.logits.size()), false, tree.logits});
  run->add_words("a");
}

RC_GTEST_PROP(Levels, AreTheBestOfEachUnderTheOneBefore, ()) {
  const Tree tree = any_tree();
  const auto temperature = static_cast<double>(*rc::gen::inRange(1, 40)) / 10.0;
  const auto limit = static_cast<double>(*rc::gen::inRange(0, 10)) / 10.0;
  FakeRun run;
  set_up(&run, fb::TaskKind::classify, tree, static_cast<float>(temperature));
  run.task().label_sets[0]->reject_below = static_cast<float>(limit);
  LabelScore out[kMostLevels];
  uint32_t count = 0, holds = 0;
  RC_ASSERT(classify(run.session(), 0, out, kMostLevels, &count, &holds) == Status::kOk);
  double score = 1;
  uint32_t level = 0;
  for (int32_t under = -1;; ++level) {
    double sum = 0;
    int32_t best = -1;
    for (size_t i = 0; i < tree.logits.size(); ++i) {
      if (tree.parents[i] != under) continue;
      sum += std::exp(static_cast<double>(tree.logits[i]) / temperature);
      if (best < 0 || tree.logits[i] > tree.logits[static_cast<size_t>(best)]) best = static_cast<int32_t>(i);
    }
    if (best < 0) break;
    score *= std::exp(static_cast<double>(tree.logits[static_cast<size_t>(best)]) / temperature) / sum;
    RC_ASSERT(level < count);
    RC_ASSERT(out[level].label == static_cast<uint32_t>(best));
    RC_ASSERT(std::fabs(static_cast<double>(out[level].score) - score) < 1e-5);
    under = best;
  }
  RC_ASSERT(count == level);
  uint32_t above = 0;
  for (uint32_t i = 0; i < count; ++i) above += out[i].score >= static_cast<float>(limit) ? 1u : 0u;
  RC_ASSERT(holds == above);
  // Requesting fewer labels gives the first of them.
  LabelScore top;
  RC_ASSERT(classify(run.session(), 0, &top, 1, &count, nullptr) == Status::kOk);
  RC_ASSERT(count == 1u);
  RC_ASSERT(top.label == out[0].label);
}

RC_GTEST_PROP(Levels, OfSeveralLabelsBoundThoseBelow, ()) {
  const Tree tree = any_tree();
  FakeRun run;
  set_up(&run, fb::TaskKind::multi_label, tree, 1.0f);
  std::vector<LabelScore> out(tree.logits.size());
  uint32_t count = 0, holds = 0;
  RC_ASSERT(classify(run.session(), 0, out.data(), static_cast<uint32_t>(out.size()), &count, &holds) == Status::kOk);
  RC_ASSERT(count == out.size());
  uint32_t over = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    float least = tree.logits[out[i].label];
    for (int32_t up = tree.parents[out[i].label]; up >= 0; up = tree.parents[static_cast<size_t>(up)]) {
      least = std::min(least, tree.logits[static_cast<size_t>(up)]);
    }
    RC_ASSERT(std::fabs(static_cast<double>(out[i].score) - 1 / (1 + std::exp(-static_cast<double>(least)))) < 1e-5);
    if (i > 0) RC_ASSERT(out[i].score <= out[i - 1].score);
    over += least > 0 ? 1u : 0u;
  }
  RC_ASSERT(holds == over);
}

TEST(LabelSets, FurtherOnesAreOfTexts) {
  FakeRun run;
  run.task().kind = fb::TaskKind::joint;
  run.add_labels(0, label_names(2));
  run.add_labels(1, {"O", "B-x"}, fb::TagScheme::iob2);
  fb::LabelSetT& further = run.add_labels(2, label_names(3));
  further.name = "mood";
  further.temperature = 2;
  run.add_output({fb::OutputRole::labels, 2, false, {1.0f, 0.0f}});
  run.add_output({fb::OutputRole::tags, 2, true, {0, 1, 0, 1, 0, 1}});
  run.add_output({fb::OutputRole::labels, 3, false, {1.0f, 5.0f, 2.0f}});
  run.add_words("a");
  const Session& session = run.session();
  EXPECT_EQ(task_label_sets(session.model()), 2u);
  EXPECT_EQ(std::string(session.model().label_set_name(2).data, session.model().label_set_name(2).size), "mood");
  EXPECT_EQ(session.model().label_set_name(0).size, 0u);
  LabelScore out[3];
  uint32_t count = 0;
  ASSERT_EQ(classify(session, 0, out, 3, &count, nullptr, 2), Status::kOk);
  ASSERT_EQ(count, 3u);
  EXPECT_EQ(out[0].label, 1u);
  EXPECT_NEAR(out[0].score, 1 / (1 + std::exp(-1.5) + std::exp(-2.0)), 1e-6);
  ASSERT_EQ(classify(session, 0, out, 3, &count), Status::kOk);
  EXPECT_EQ(count, 2u);
  // Set 1 labels words, not texts, and there is no set 3.
  EXPECT_EQ(classify(session, 0, out, 3, &count, nullptr, 1), Status::kNoSuchTask);
  EXPECT_EQ(classify(session, 0, out, 3, &count, nullptr, 3), Status::kNoSuchTask);
  Entity entity;
  EXPECT_EQ(tag(session, 0, {"a", 1}, &entity, 1, &count, 2), Status::kIndexOutOfRange);
  EXPECT_EQ(tag(session, 0, {"a", 1}, &entity, 1, &count, 3), Status::kNoSuchTask);
}

TEST(LabelSets, FurtherOnesOfTagsAreOfWords) {
  FakeRun run;
  run.task().kind = fb::TaskKind::tag;
  run.add_labels(0, {"O", "B-x"}, fb::TagScheme::iob2);
  run.add_labels(1, {"noun", "verb"});
  run.add_output({fb::OutputRole::tags, 2, true, {9, 0, 0, 1, 1, 0, 9, 0}});
  run.add_output({fb::OutputRole::tags, 2, true, {9, 0, 3, 0, 0, 3, 9, 0}});
  run.add_words("dogs bark");
  const Session& session = run.session();
  Entity entities[2];
  uint32_t count = 0;
  ASSERT_EQ(tag(session, 0, {"dogs bark", 9}, entities, 2, &count), Status::kOk);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(entities[0].label, 1u);
  ASSERT_EQ(tag(session, 0, {"dogs bark", 9}, entities, 2, &count, 1), Status::kOk);
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(std::string(entities[0].name.data, entities[0].name.size), "noun");
  EXPECT_EQ(std::string(entities[1].name.data, entities[1].name.size), "verb");
  EXPECT_EQ(entities[1].span.begin, 5u);
  LabelScore out[2];
  EXPECT_EQ(classify(session, 0, out, 2, &count, nullptr, 1), Status::kNoSuchTask);
}

}  // namespace
}  // namespace bantam::tests
