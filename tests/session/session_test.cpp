// The contract of sessions: exact arena size, statuses, views, observer.
#include "bantam/session.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/session/bert.h"
#include "tests/session/run_helpers.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace bantam::testing {
namespace {

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() : bert_(random_bert({}, 1)), file_(build(bert_, WeightType::kI8).finish()) {
    EXPECT_EQ(Model::open(file_.data(), file_.size(), &model_), Status::kOk);
    options_.max_tokens = 64;
    options_.max_sequences = 4;
  }

  Session* create(const SessionOptions& options) {
    arena_ = std::make_unique<Arena>(arena_bytes(model_, options));
    Session* session = nullptr;
    EXPECT_EQ(Session::create(model_, options, arena_->data(), arena_->size(), &session), Status::kOk);
    return session;
  }

  Bert bert_;
  FileBytes file_;
  Model model_;
  SessionOptions options_;
  std::unique_ptr<Arena> arena_;
};

TEST_F(SessionTest, ExactlyTheStatedArenaIsNeeded) {
  for (const uint32_t tokens : {1u, 15u, 16u, 17u, 96u, 300u}) {
    for (const uint32_t choice : {0u, 1u, 3u, 4u}) {
      const uint32_t workers = choice % 4;
      const Threads threads(workers);  // worker ids must be below the session's workers
      SessionOptions options;
      options.max_tokens = tokens;
      options.max_sequences = 3;
      options.workers = workers == 0 ? 1 : workers;
      options.parallel = workers == 0 ? nullptr : threads.get();
      options.f32_attention = choice != 0;
      const size_t size = arena_bytes(model_, options);
      ASSERT_GT(size, 0u);
      std::vector<uint8_t> memory(size + 128, 0x5A);
      uint8_t* begin = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
      Session* session = nullptr;
      EXPECT_EQ(Session::create(model_, options, begin, size - 1, &session), Status::kArenaTooSmall);
      EXPECT_EQ(Session::create(model_, options, begin + 16, size, &session), Status::kMisaligned);
      EXPECT_EQ(session, nullptr);
      ASSERT_EQ(Session::create(model_, options, begin, size, &session), Status::kOk);
      const uint32_t longest = std::min(tokens, bert_.shape.positions);
      Ids ids = random_ids({longest}, bert_.shape.vocabulary, bert_.shape.segments, 5);
      while (ids.offsets.size() < 4 && ids.offsets.back() < tokens) {
        const uint32_t more = ids.offsets.size() == 3 ? tokens - ids.offsets.back() : 1;
        const Ids next = random_ids({std::min(more, longest)}, bert_.shape.vocabulary, bert_.shape.segments, 6);
        ids.ids.insert(ids.ids.end(), next.ids.begin(), next.ids.end());
        ids.segments.insert(ids.segments.end(), next.segments.begin(), next.segments.end());
        ids.offsets.push_back(ids.offsets.back() + next.offsets.back());
      }
      ASSERT_EQ(session->run(ids.batch()), Status::kOk);
      EXPECT_LE(session->arena_high_water(), size);
      for (const uint8_t* after = begin + size; after < memory.data() + memory.size(); ++after) ASSERT_EQ(*after, 0x5A);
    }
  }
}

/// A single-threaded parallel-for that can misbehave.
struct Wrong {
  Parallel parallel;
  uint32_t worker = 0;
  uint32_t left_out = 0;
  uint32_t step = 1;   // step between indices
  uint32_t shift = 0;  // offset added to indices
  uint32_t loops = 0;

  Wrong() {
    parallel.context = this;
    parallel.run = [](void* context, uint32_t count, void (*task)(void*, uint32_t, uint32_t), void* arg) {
      Wrong& w = *static_cast<Wrong*>(context);
      ++w.loops;
      for (uint32_t i = w.left_out; i < count; ++i) task(arg, i * w.step + w.shift, i == count - 1 ? w.worker : 0);
    };
  }
};

/// With two workers, runs of `ids` must be refused if the parallel-for violates its contract, and nothing may be
/// written after the arena.
void expect_refusals(const Model& model, const Ids& ids) {
  Wrong wrong;
  SessionOptions options;
  options.max_tokens = 300;
  options.max_sequences = 4;
  options.workers = 2;
  options.parallel = &wrong.parallel;
  const size_t size = arena_bytes(model, options);
  std::vector<uint8_t> memory(size + 128, 0x5A);
  uint8_t* begin = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
  Session* session = nullptr;
  ASSERT_EQ(Session::create(model, options, begin, size, &session), Status::kOk);
  for (const uint32_t worker : {0u, 1u, 2u, 3u, 0xFFFFFFFFu}) {
    wrong.worker = worker;
    EXPECT_EQ(session->run(ids.batch()), worker < 2 ? Status::kOk : Status::kInvalidArgument) << worker;
    for (const uint8_t* after = begin + size; after < memory.data() + memory.size(); ++after) ASSERT_EQ(*after, 0x5A);
  }
  EXPECT_GT(wrong.loops, 0u);
  wrong.worker = 0;
  wrong.left_out = 1;
  EXPECT_EQ(session->run(ids.batch()), Status::kInvalidArgument);
  wrong.left_out = 0;
  wrong.step = 0;  // the same task for every index
  EXPECT_EQ(session->run(ids.batch()), Status::kInvalidArgument);
  wrong.step = 1;
  for (const uint32_t shift : {1u, 100000000u, 0xFFFFFFF0u}) {  // tasks that do not exist
    wrong.shift = shift;
    EXPECT_EQ(session->run(ids.batch()), Status::kInvalidArgument);
    for (const uint8_t* after = begin + size; after < memory.data() + memory.size(); ++after) ASSERT_EQ(*after, 0x5A);
  }
  wrong.shift = 0;
  EXPECT_EQ(session->run(ids.batch()), Status::kOk);
}

TEST_F(SessionTest, AParallelThatBreaksItsContractIsRefused) {
  expect_refusals(model_, random_ids({75, 75, 75, 75}, bert_.shape.vocabulary, bert_.shape.segments, 5));
}

/// Few rows form one tile, whose layers are shared by columns.
TEST_F(SessionTest, SoIsOneThatBreaksItWithinALayer) {
  for (const WeightType type : {WeightType::kI8, WeightType::kF32}) {
    const FileBytes file(build(random_bert(wide_shape(), 3), type).finish());
    Model model;
    ASSERT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
    expect_refusals(model, random_ids({8}, wide_shape().vocabulary, wide_shape().segments, 5));
  }
}

TEST_F(SessionTest, TheHighWaterMarkReachesTheStatedSizeAtTheMaxima) {
  for (const bool f32_attention : {false, true}) {
    options_.f32_attention = f32_attention;
    Session* session = create(options_);
    EXPECT_LT(session->arena_high_water(), arena_->size());
    ASSERT_EQ(session->run(random_ids({5}, 211, 2, 1).batch()), Status::kOk);
    EXPECT_LT(session->arena_high_water(), arena_->size());
    ASSERT_EQ(session->run(random_ids({64}, 211, 2, 1).batch()), Status::kOk);
    ASSERT_EQ(session->run(random_ids({16, 16, 16, 16}, 211, 2, 1).batch()), Status::kOk);
    EXPECT_EQ(session->arena_high_water(), arena_->size());
  }
}

TEST_F(SessionTest, SmallTilesTakeLessMemoryAndTheirArenaIsExactToo) {
  const size_t usual = arena_bytes(model_, options_);
  size_t before = usual;
  for (const uint32_t block : {4u, 2u, 1u}) {
    options_.tile_rows = 4;
    options_.block_rows = block;
    for (const bool f32_attention : {false, true}) {
      options_.f32_attention = f32_attention;
      const size_t size = arena_bytes(model_, options_);
      Arena arena(size + 64);
      Session* session = nullptr;
      EXPECT_EQ(Session::create(model_, options_, arena.data(), size - 1, &session), Status::kArenaTooSmall);
      ASSERT_EQ(Session::create(model_, options_, arena.data(), size, &session), Status::kOk);
      ASSERT_EQ(session->run(random_ids({5}, 211, 2, 1).batch()), Status::kOk);
      EXPECT_LT(session->arena_high_water(), size);
      ASSERT_EQ(session->run(random_ids({64}, 211, 2, 1).batch()), Status::kOk);
      ASSERT_EQ(session->run(random_ids({3, 16, 29, 16}, 211, 2, 1).batch()), Status::kOk);
      EXPECT_EQ(session->arena_high_water(), size);
      for (size_t i = size; i < arena.size(); ++i) ASSERT_EQ(arena.data()[i], 0xA5);
      if (f32_attention) continue;
      EXPECT_LT(size, before);
      before = size;
    }
  }
}

TEST_F(SessionTest, F32AttentionTakesMemoryInInt8FilesOnly) {
  SessionOptions f32_attention = options_;
  f32_attention.f32_attention = true;
  EXPECT_GT(arena_bytes(model_, f32_attention), arena_bytes(model_, options_));
  const FileBytes file(build(bert_, WeightType::kF32).finish());
  Model model;
  ASSERT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  EXPECT_EQ(arena_bytes(model, f32_attention), arena_bytes(model, options_));
}

TEST_F(SessionTest, TheArenaIsTheSameOnEveryIsa) {
  SessionOptions reference = options_;
  reference.isa = Isa::kReference;
  EXPECT_EQ(arena_bytes(model_, reference), arena_bytes(model_, options_));
}

TEST_F(SessionTest, OptionsThatCannotBeServedAreRefusedWithAReason) {
  const auto refused = [&](SessionOptions options, Status expected) {
    Arena arena(64);
    Session* session = nullptr;
    Fault fault;
    EXPECT_EQ(Session::create(model_, options, arena.data(), arena.size(), &session, &fault), expected);
    EXPECT_STRNE(fault.what, "");
    EXPECT_EQ(arena_bytes(model_, options), 0u);
  };
  SessionOptions o = options_;
  o.max_sequences = 0;
  refused(o, Status::kInvalidArgument);
  o = options_;
  o.workers = 0;
  refused(o, Status::kInvalidArgument);
  o = options_;
  o.tile_rows = 18;
  refused(o, Status::kInvalidArgument);
  o = options_;
  o.block_rows = 17;
  refused(o, Status::kInvalidArgument);
  o = options_;
  o.max_tokens = std::numeric_limits<uint32_t>::max();
  refused(o, Status::kInvalidArgument);
  o = options_;
  o.max_tokens = 0;
  o.max_sequences = std::numeric_limits<uint32_t>::max();
  refused(o, Status::kInvalidArgument);
}

TEST_F(SessionTest, BadBatchesGetAStatus) {
  Session* session = create(options_);
  OutputView view;
  EXPECT_EQ(session->output(0, &view), Status::kNotRun);
  Ids ids = random_ids({10, 20}, 211, 2, 1);
  Batch batch = ids.batch();
  batch.ids = nullptr;
  EXPECT_EQ(session->run(batch), Status::kInvalidArgument);
  batch = ids.batch();
  batch.tokens = 0;
  EXPECT_EQ(session->run(batch), Status::kInvalidArgument);
  batch = ids.batch();
  batch.offsets = nullptr;
  EXPECT_EQ(session->run(batch), Status::kInvalidArgument);
  batch = ids.batch();
  batch.sequences = 5;
  EXPECT_EQ(session->run(batch), Status::kTooManySequences);
  EXPECT_EQ(session->run(random_ids({65}, 211, 2, 1).batch()), Status::kTooManyTokens);
  for (const std::vector<uint32_t>& offsets : std::vector<std::vector<uint32_t>>{
           {0, 10, 29}, {1, 10, 30}, {0, 0, 30}, {0, 30, 30}, {0, 31, 30}, {0, 4000000000u, 30}}) {
    Ids bad = ids;
    bad.offsets = offsets;
    batch = bad.batch();
    batch.tokens = 30;
    EXPECT_EQ(session->run(batch), Status::kInvalidArgument);
  }
  for (const int32_t id : {-1, 211, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
    Ids bad = ids;
    bad.ids[17] = id;
    EXPECT_EQ(session->run(bad.batch()), Status::kIndexOutOfRange);
  }
  Ids bad = ids;
  bad.segments[3] = 2;
  EXPECT_EQ(session->run(bad.batch()), Status::kIndexOutOfRange);
  EXPECT_EQ(session->output(0, &view), Status::kNotRun);
  ASSERT_EQ(session->run(ids.batch()), Status::kOk);
  EXPECT_EQ(session->output(0, &view), Status::kOk);
  EXPECT_EQ(session->output(2, &view), Status::kIndexOutOfRange);
  EXPECT_EQ(session->output(1, 2, &view), Status::kIndexOutOfRange);
}

TEST_F(SessionTest, NoSequenceIsLongerThanTheModelsPositions) {
  SessionOptions options;
  options.max_tokens = 300;
  options.max_sequences = 4;
  Session* session = create(options);
  EXPECT_EQ(session->run(random_ids({97}, 211, 2, 1).batch()), Status::kTooManyTokens);
  EXPECT_EQ(session->run(random_ids({96, 96, 96}, 211, 2, 1).batch()), Status::kOk);
}

TEST_F(SessionTest, ViewsOfOneSequenceAreItsRows) {
  Session* session = create(options_);
  const Ids ids = random_ids({7, 1, 30}, 211, 2, 1);
  ASSERT_EQ(session->run(ids.batch()), Status::kOk);
  EXPECT_EQ(session->sequence_count(), 3u);
  OutputView all, one;
  ASSERT_EQ(session->output(1, &all), Status::kOk);
  EXPECT_EQ(all.rows, 38u);
  EXPECT_TRUE(all.per_token);
  ASSERT_EQ(session->output(1, 2, &one), Status::kOk);
  EXPECT_EQ(one.rows, 30u);
  EXPECT_EQ(one.data, all.data + 8 * all.stride);
  ASSERT_EQ(session->output(0, 1, &one), Status::kOk);
  EXPECT_EQ(one.rows, 1u);
  EXPECT_EQ(one.width, 3u);
  EXPECT_EQ(std::string(one.name.data, one.name.size), "logits");
  const EncodedSequence sequence = session->sequence(2);
  EXPECT_EQ(sequence.row_begin, 8u);
  EXPECT_EQ(sequence.row_count, 30u);
  EXPECT_EQ(sequence.ids[29], ids.ids[37]);
  EXPECT_EQ(sequence.offsets, nullptr);
  EXPECT_EQ(session->sequence(3).row_count, 0u);
}

TEST_F(SessionTest, ABatchMayPointIntoTheSessionsOwnArrays) {
  Session* session = create(options_);
  const Ids ids = random_ids({7, 12}, 211, 2, 1);
  ASSERT_EQ(session->run(ids.batch()), Status::kOk);
  OutputView view;
  ASSERT_EQ(session->output(0, 1, &view), Status::kOk);
  const std::vector<float> expected = values(view);
  const EncodedSequence second = session->sequence(1);
  Batch again;
  again.ids = second.ids;
  again.segments = second.segments;
  again.tokens = second.row_count;
  ASSERT_EQ(session->run(again), Status::kOk);
  ASSERT_EQ(session->output(0, &view), Status::kOk);
  EXPECT_EQ(values(view), expected);
}

TEST_F(SessionTest, TheObserverSeesEveryOpOfEveryTile) {
  options_.tile_rows = 16;
  Session* session = create(options_);
  std::vector<uint32_t> rows(model_.output_count() + 100, 0);
  Session::Observer observer;
  observer.context = &rows;
  observer.after = [](void* context, uint32_t op, uint32_t, uint32_t count, uint32_t) {
    (*static_cast<std::vector<uint32_t>*>(context))[op] += count;
  };
  session->set_observer(&observer);
  ASSERT_EQ(session->run(random_ids({40, 10}, 211, 2, 1).batch()), Status::kOk);
  session->set_observer(nullptr);
  for (uint32_t op = 0; op < 14; ++op) EXPECT_EQ(rows[op], 50u) << op;
  for (uint32_t op = 14; op < 17; ++op) EXPECT_EQ(rows[op], 2u) << op;
  EXPECT_EQ(rows[17], 0u);
}

TEST_F(SessionTest, NumbersThatAreNotFiniteGetAStatus) {
  for (const WeightType type : {WeightType::kF32, WeightType::kI8}) {
    for (const char* spoiled : {"norm", "layer.1.up.bias", "classify.bias", "tag.bias", "layer.0.qkv.bias"}) {
      ModelBuilder builder = build(bert_, type);
      for (const auto& t : builder.model.tensors) {
        if (t->name != spoiled) continue;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        std::memcpy(builder.data.data() + t->data->offset() + 4, &nan, 4);
      }
      const FileBytes file(builder.finish());
      const Ids ids = random_ids({9}, 211, 2, 1);
      Status status = Status::kOk;
      try {
        run_once(file, ids, {});
      } catch (Status thrown) {
        status = thrown;
      }
      EXPECT_EQ(status, Status::kNonFinite) << spoiled;
    }
  }
}

#if defined(__SSE__)
TEST_F(SessionTest, TheCallersFloatModeNeitherMattersNorChanges) {
  const Ids ids = random_ids({33}, 211, 2, 1);
  const std::vector<float> expected = run_once(file_, ids, {});
  const unsigned before = _mm_getcsr();
  const unsigned strange = 0x1F80 | 0x8040 | 0x6000;  // flush to zero, denormals are zero, round toward zero
  _mm_setcsr(strange);
  const std::vector<float> got = run_once(file_, ids, {});
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after & ~0x3Fu, strange);
  EXPECT_EQ(got, expected);
}
#endif

TEST_F(SessionTest, TextNeedsATokenizer) {
  Session* session = create(options_);
  EXPECT_EQ(session->tokenizer(), nullptr);
  EXPECT_EQ(session->add({"hello", 5}, {}, {}), Status::kNoTokenizer);
  EXPECT_EQ(session->run(), Status::kInvalidArgument);
}

TEST_F(SessionTest, ABackendsArenaIsExactToo) {
  const FileBytes file(build(bert_, WeightType::kF32).finish());
  Model model;
  ASSERT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  LinearBackend backend;
  // Writes everything that it may, so that a tile too large for its scratch memory would be detected.
  backend.linear = [](void*, uint32_t, const float*, size_t, uint32_t rows, float* y, size_t stride) {
    for (size_t i = 0; i < rows * stride; ++i) y[i] = 0.25f;
    return Status::kOk;
  };
  for (const uint32_t tokens : {1u, 90u, 300u}) {
    SessionOptions options;
    options.max_tokens = tokens;
    options.max_sequences = 4;
    options.backend = &backend;
    const size_t size = arena_bytes(model, options);
    Arena arena(size + 64);
    Session* session = nullptr;
    EXPECT_EQ(Session::create(model, options, arena.data(), size - 1, &session), Status::kArenaTooSmall);
    ASSERT_EQ(Session::create(model, options, arena.data(), size, &session), Status::kOk);
    const uint32_t longest = std::min(tokens, bert_.shape.positions);
    ASSERT_EQ(session->run(random_ids({longest}, 211, 2, 1).batch()), Status::kOk);
    EXPECT_LE(session->arena_high_water(), size);
    if (tokens != 300) continue;
    ASSERT_EQ(session->run(random_ids({96, 96, 96, 12}, 211, 2, 1).batch()), Status::kOk);
    EXPECT_EQ(session->arena_high_water(), size);
    for (size_t i = size; i < arena.size(); ++i) ASSERT_EQ(arena.data()[i], 0xA5);
  }
}

TEST_F(SessionTest, ABackendRunsTheLinearLayersOfFloatFilesOnly) {
  struct Counter {
    uint32_t calls = 0;
    uint32_t last = 0;
  };
  for (const WeightType type : {WeightType::kF32, WeightType::kI8}) {
    Counter counter;
    LinearBackend backend;
    backend.context = &counter;
    backend.linear = [](void* context, uint32_t op, const float*, size_t, uint32_t rows, float* y, size_t stride) {
      auto& c = *static_cast<Counter*>(context);
      c.calls += 1;
      c.last = op;
      for (size_t i = 0; i < rows * stride; ++i) y[i] = 0.5f;
      return Status::kOk;
    };
    SessionOptions options;
    options.backend = &backend;
    const Ids ids = random_ids({40}, 211, 2, 1);  // one call per layer
    run_once(FileBytes(build(bert_, type).finish()), ids, options);
    EXPECT_EQ(counter.calls, type == WeightType::kF32 ? 11u : 0u);
    EXPECT_EQ(counter.last, type == WeightType::kF32 ? 10u : 0u);
  }
}

TEST_F(SessionTest, TwoModelsTakeTurnsInOneArena) {
  BertShape wider;
  wider.hidden *= 2;
  const FileBytes files[] = {FileBytes(build(bert_, WeightType::kI8).finish()),
                             FileBytes(build(random_bert(wider, 2), WeightType::kF32).finish())};
  const Ids ids = random_ids({40, 9}, 211, 2, 1);
  SessionOptions options;
  options.max_tokens = ids.offsets.back();
  options.max_sequences = 2;
  Model models[2];
  size_t size = 0;
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_EQ(Model::open(files[i].data(), files[i].size(), &models[i]), Status::kOk);
    size = std::max(size, arena_bytes(models[i], options));
  }
  Arena arena(size);
  for (uint32_t turn = 0; turn < 5; ++turn) {
    const uint32_t which = turn % 2;
    Session* session = nullptr;  // the previous session ends where this one begins
    ASSERT_EQ(Session::create(models[which], options, arena.data(), arena.size(), &session), Status::kOk);
    ASSERT_EQ(session->run(ids.batch()), Status::kOk);
    std::vector<float> all;
    for (uint32_t i = 0; i < models[which].output_count(); ++i) {
      OutputView view;
      ASSERT_EQ(session->output(i, &view), Status::kOk);
      const std::vector<float> one = values(view);
      all.insert(all.end(), one.begin(), one.end());
    }
    EXPECT_EQ(all, run_once(files[which], ids, options)) << "turn " << turn;
  }
}

}  // namespace
}  // namespace bantam::testing
