// A run in steps gives the bits of a single call, uses no memory, can be abandoned, and ends when the session is used
// for something else.
#include "bantam/steps.h"

#include <gtest/gtest.h>

#include "tests/session/bert.h"
#include "tests/session/run_helpers.h"

namespace bantam::testing {
namespace {

class StepsTest : public ::testing::Test {
 protected:
  StepsTest() : file_(build(random_bert(shape_, 3), WeightType::kI8).finish()) {
    EXPECT_EQ(Model::open(file_.data(), file_.size(), &model_), Status::kOk);
    SessionOptions options;
    options.max_tokens = 60;
    options.max_sequences = 4;
    options.tile_rows = 16;
    arena_ = std::make_unique<Arena>(arena_bytes(model_, options));
    EXPECT_EQ(Session::create(model_, options, arena_->data(), arena_->size(), &session_), Status::kOk);
  }

  std::vector<float> outputs() {
    std::vector<float> all;
    for (uint32_t i = 0; i < model_.output_count(); ++i) {
      OutputView view;
      EXPECT_EQ(session_->output(i, &view), Status::kOk);
      const std::vector<float> one = values(view);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  /// Advances until the run is done; each call except the last executes `operators` operators.
  uint32_t finish(SteppedRun* run, uint32_t operators) {
    uint32_t calls = 0;
    for (bool done = false; !done; ++calls) {
      const uint32_t before = run->executed();
      EXPECT_FALSE(calls > 10000);
      EXPECT_EQ(run->advance(operators, &done), Status::kOk);
      if (!done) {
        EXPECT_EQ(run->executed() - before, operators);
      }
    }
    EXPECT_EQ(run->executed(), run->operators());
    return calls;
  }

  BertShape shape_;
  const FileBytes file_;
  Model model_;
  std::unique_ptr<Arena> arena_;
  Session* session_ = nullptr;
  const Ids ids_ = random_ids({17, 1, 30}, BertShape().vocabulary, BertShape().segments, 4);
};

TEST_F(StepsTest, BitsAndMemoryAreThoseOfOneCall) {
  ASSERT_EQ(session_->run(ids_.batch()), Status::kOk);
  const std::vector<float> expected = outputs();
  const size_t memory = session_->arena_high_water();
  uint32_t total = 0;
  for (const uint32_t operators : {1u, 3u, 7u, 1000000u}) {
    const Ids other = random_ids({60}, shape_.vocabulary, shape_.segments, operators);
    ASSERT_EQ(session_->run(other.batch()), Status::kOk);
    SteppedRun run;
    ASSERT_EQ(SteppedRun::begin(session_, ids_.batch(), &run), Status::kOk);
    EXPECT_EQ(run.executed(), 0u);
    OutputView view;
    EXPECT_EQ(session_->output(0, &view), Status::kNotRun);
    total = run.operators();
    EXPECT_EQ(finish(&run, operators), (total + operators - 1) / operators);
    EXPECT_EQ(outputs(), expected);
    bool done = false;
    EXPECT_EQ(run.advance(1, &done), Status::kOk);
    EXPECT_TRUE(done);
  }
  EXPECT_GT(total, 20u);
  EXPECT_GE(session_->arena_high_water(), memory);
}

TEST_F(StepsTest, TheObserverSeesTheOperatorsThatAreCounted) {
  struct Seen {
    uint32_t count = 0;
  } seen;
  Session::Observer observer;
  observer.context = &seen;
  observer.after = [](void* context, uint32_t, uint32_t, uint32_t, uint32_t) { ++static_cast<Seen*>(context)->count; };
  session_->set_observer(&observer);
  SteppedRun run;
  ASSERT_EQ(SteppedRun::begin(session_, ids_.batch(), &run), Status::kOk);
  bool done = false;
  ASSERT_EQ(run.advance(5, &done), Status::kOk);
  EXPECT_EQ(seen.count, 5u);
  ASSERT_EQ(run.advance(0, &done), Status::kOk);
  EXPECT_EQ(seen.count, 5u);
  finish(&run, 4);
  EXPECT_EQ(seen.count, run.operators());
  const uint32_t stepped = seen.count;
  ASSERT_EQ(session_->run(ids_.batch()), Status::kOk);
  EXPECT_EQ(seen.count, 2 * stepped);
  session_->set_observer(nullptr);
}

TEST_F(StepsTest, WhatIsGivenUpLeavesNothing) {
  ASSERT_EQ(session_->run(ids_.batch()), Status::kOk);
  const std::vector<float> expected = outputs();
  SteppedRun run;
  bool done = false;
  ASSERT_EQ(SteppedRun::begin(session_, ids_.batch(), &run), Status::kOk);
  ASSERT_EQ(run.advance(7, &done), Status::kOk);
  ASSERT_FALSE(done);
  ASSERT_EQ(session_->run(ids_.batch()), Status::kOk);
  EXPECT_EQ(outputs(), expected);
}

TEST_F(StepsTest, OtherCallsEndIt) {
  const auto ends = [&](auto call) {
    SteppedRun run;
    bool done = true;
    ASSERT_EQ(SteppedRun::begin(session_, ids_.batch(), &run), Status::kOk);
    ASSERT_EQ(run.advance(3, &done), Status::kOk);
    call();
    EXPECT_EQ(run.advance(1, &done), Status::kInvalidArgument);
    EXPECT_FALSE(done);
    EXPECT_EQ(run.executed(), 3u);
  };
  ends([&] { EXPECT_EQ(session_->run(ids_.batch()), Status::kOk); });
  ends([&] { session_->clear(); });
  ends([&] {
    SteppedRun other;
    EXPECT_EQ(SteppedRun::begin(session_, ids_.batch(), &other), Status::kOk);
  });
}

TEST_F(StepsTest, BadCallsGetAStatus) {
  SteppedRun run;
  bool done = false;
  EXPECT_EQ(run.advance(1, &done), Status::kInvalidArgument);
  EXPECT_EQ(SteppedRun::begin(nullptr, ids_.batch(), &run), Status::kInvalidArgument);
  EXPECT_EQ(SteppedRun::begin(session_, ids_.batch(), nullptr), Status::kInvalidArgument);
  EXPECT_EQ(SteppedRun::begin(session_, &run), Status::kInvalidArgument);  // no text was added
  Ids bad = ids_;
  bad.ids[3] = static_cast<int32_t>(shape_.vocabulary);
  EXPECT_EQ(SteppedRun::begin(session_, bad.batch(), &run), Status::kIndexOutOfRange);
  EXPECT_EQ(run.advance(1, &done), Status::kInvalidArgument);
  ASSERT_EQ(SteppedRun::begin(session_, ids_.batch(), &run), Status::kOk);
  EXPECT_EQ(run.advance(1, nullptr), Status::kInvalidArgument);
}

}  // namespace
}  // namespace bantam::testing
