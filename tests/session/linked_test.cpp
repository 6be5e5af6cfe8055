// The runtime compiled as in a firmware image, on the host. What linked/bantam_linked.h names runs; everything else is
// refused with kOpNotLinked and never reached.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "bantam/session.h"
#include "linked.h"
#include "tests/session/bert.h"

namespace bantam::testing {
namespace {

static_assert(!linked::op(linked::kOpSlice) && !linked::op(linked::kOpRow) && !linked::kHalf && !linked::kTokenizer &&
              !linked::kFaultText && !linked::kHost);

struct Arena {
  explicit Arena(size_t size) : storage(size + 64) {
    bytes = storage.data() + (64 - reinterpret_cast<uintptr_t>(storage.data()) % 64) % 64;
  }
  std::vector<uint8_t> storage;
  uint8_t* bytes;
};

fb::OpT& op(fb::ModelT& m, const std::string& name) {
  for (const auto& o : m.subgraphs[0]->ops) {
    if (o->name == name) return *o;
  }
  throw std::runtime_error("no op " + name);
}

std::string name_of(const Fault& fault) { return std::string(fault.name, fault.name_size); }

/// Opens the random model after `edit`. `unknown`: an op whose kind becomes one that no build knows.
Status open_edited(const std::function<void(fb::ModelT&)>& edit, Fault* fault, WeightType type = WeightType::kI8,
                   const char* unknown = nullptr) {
  ModelBuilder builder = build(random_bert(BertShape(), 3), type);
  edit(builder.model);
  std::vector<uint8_t> bytes = builder.finish();
  if (unknown != nullptr) bytes = with_unknown_kind(std::move(bytes), unknown);
  const FileBytes file(bytes);
  Model model;
  const Status status = Model::open(file.data(), file.size(), &model, fault);
  // The name points into the file, so it is copied.
  static std::string name;
  name = name_of(*fault);
  fault->name = name.data();
  return status;
}

TEST(Linked, StatusesAreTermsWithoutSentences) {
  EXPECT_STREQ(status_message(Status::kOk), "ok");
  EXPECT_STREQ(status_message(Status::kCorrupt), "corrupt");
  EXPECT_STREQ(status_message(Status::kNoTokenAllowed), "no token allowed");
  for (const int32_t number : {23, 1000, -1}) {
    EXPECT_STREQ(status_message(static_cast<Status>(number)), "unknown status");
  }
}

TEST(Linked, WhatIsLinkedRuns) {
  const Bert bert = random_bert(BertShape(), 3);
  const FileBytes file(build(bert, WeightType::kI8).finish());
  Model model;
  ASSERT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  const SessionOptions options;
  Arena arena(arena_bytes(model, options));
  Session* session = nullptr;
  ASSERT_EQ(Session::create(model, options, arena.bytes, arena_bytes(model, options), &session), Status::kOk);
  EXPECT_EQ(session->add({"text", 4}, {}, {}), Status::kNoTokenizer);
  const std::vector<int32_t> ids = {5, 17, 200, 3, 3, 88, 41};
  const std::vector<int32_t> segments = {0, 0, 0, 1, 1, 1, 1};
  Batch batch;
  batch.ids = ids.data();
  batch.segments = segments.data();
  batch.tokens = static_cast<uint32_t>(ids.size());
  ASSERT_EQ(session->run(batch), Status::kOk);
  const BertOutput expected = forward(bert, ids, segments, {0, batch.tokens});
  OutputView logits;
  ASSERT_EQ(session->output(0, &logits), Status::kOk);
  ASSERT_EQ(logits.width, expected.logits.size());
  for (uint32_t i = 0; i < logits.width; ++i) EXPECT_NEAR(double{logits.data[i]}, expected.logits[i], 0.2);
  OutputView tags;
  ASSERT_EQ(session->output(1, &tags), Status::kOk);
  ASSERT_EQ(size_t{tags.rows} * tags.width, expected.tags.size());
  for (uint32_t r = 0; r < tags.rows; ++r) {
    for (uint32_t c = 0; c < tags.width; ++c) {
      EXPECT_NEAR(double{tags.data[r * tags.stride + c]}, expected.tags[size_t{r} * tags.width + c], 0.3);
    }
  }
}

TEST(Linked, OperatorsLeftOut) {
  Fault fault;
  EXPECT_EQ(open_edited([](auto& m) { op(m, "tag").attributes.Set(fb::SliceT{}); }, &fault), Status::kOpNotLinked);
  EXPECT_EQ(name_of(fault), "tag");
  EXPECT_STREQ(fault.what, "");
  EXPECT_EQ(open_edited([](auto& m) { op(m, "first").attributes.Set(fb::RowT{}); }, &fault), Status::kOpNotLinked);
  EXPECT_EQ(name_of(fault), "first");
  // A copy instead would give other values than a build that has the operator.
  EXPECT_EQ(open_edited(
                [](auto& m) {
                  op(m, "tag").attributes.Set(fb::SliceT{});
                  op(m, "tag").fallback = true;
                },
                &fault),
            Status::kOpNotLinked);
  // An operator that no build executes is unsupported; an operator that could be replaced by a copy needs the copy
  // operator.
  EXPECT_EQ(open_edited([](auto&) {}, &fault, WeightType::kI8, "tag"), Status::kUnsupported);
  EXPECT_EQ(open_edited([](auto& m) { op(m, "tag").fallback = true; }, &fault, WeightType::kI8, "tag"),
            Status::kOpNotLinked);
}

TEST(Linked, FunctionsAndNumbersLeftOut) {
  Fault fault;
  EXPECT_EQ(open_edited([](auto& m) { op(m, "layer.0.up").epilogue->activation = fb::ActivationKind::relu; }, &fault),
            Status::kOpNotLinked);
  EXPECT_EQ(name_of(fault), "layer.0.up");
  EXPECT_EQ(open_edited([](auto& m) { op(m, "layer.1.out").epilogue->norm = fb::NormKind::rms; }, &fault),
            Status::kOpNotLinked);
  EXPECT_EQ(name_of(fault), "layer.1.out");
  const auto keep = [](fb::ModelT&) {};
  EXPECT_EQ(open_edited(keep, &fault, WeightType::kF32), Status::kOpNotLinked);  // tables of floats
  EXPECT_EQ(name_of(fault), "embed");
  EXPECT_EQ(open_edited(keep, &fault, WeightType::kF16), Status::kOpNotLinked);
  EXPECT_EQ(open_edited([](auto& m) { op(m, "first").attributes.AsPool()->kind = fb::PoolKind::mean; }, &fault),
            Status::kOpNotLinked);
  EXPECT_EQ(name_of(fault), "first");
  EXPECT_EQ(open_edited([](auto& m) { op(m, "first").attributes.AsPool()->l2 = true; }, &fault), Status::kOpNotLinked);
  EXPECT_EQ(open_edited([](auto& m) { op(m, "first").attributes.AsPool()->skip_last = {1}; }, &fault),
            Status::kOpNotLinked);
  EXPECT_EQ(
      open_edited([](auto& m) { op(m, "layer.0.attention").attributes.AsAttention()->mask = fb::MaskKind::window; },
                  &fault),
      Status::kOpNotLinked);
  EXPECT_EQ(name_of(fault), "layer.0.attention");
}

TEST(Linked, StrategiesLeftOut) {
  Fault fault;
  const auto aggregated = [](fb::Aggregation aggregation) {
    return [aggregation](fb::ModelT& m) {
      ASSERT_FALSE(m.task->label_sets.empty());
      m.task->label_sets.back()->aggregation = aggregation;
    };
  };
  EXPECT_EQ(open_edited(aggregated(fb::Aggregation::words), &fault), Status::kOk);
  EXPECT_EQ(open_edited(aggregated(fb::Aggregation::simple), &fault), Status::kOpNotLinked);
}

/// Fields are ignored if nothing is linked for them; an input that only such a field names is detected.
TEST(Linked, PlacesLeftOut) {
  Fault fault;
  const auto with_slopes = [](fb::ModelT& m) {
    fb::OpT& attention = op(m, "layer.0.attention");
    attention.attributes.AsAttention()->slopes = name_input(attention, op(m, "tag").inputs[2]);
  };
  EXPECT_EQ(open_edited(with_slopes, &fault), Status::kOpNotLinked);
  EXPECT_EQ(name_of(fault), "layer.0.attention");
}

TEST(Linked, ScoresThatCouldNotBeComputed) {
  const auto with_task = [](fb::TaskKind kind) {
    return [kind](fb::ModelT& m) {
      m.task = std::make_unique<fb::TaskT>();
      m.task->kind = kind;
    };
  };
  Fault fault;
  EXPECT_EQ(open_edited(with_task(fb::TaskKind::tag), &fault), Status::kOpNotLinked);
  EXPECT_EQ(open_edited(with_task(fb::TaskKind::multi_label), &fault), Status::kOpNotLinked);
  // The code that computes answers of this task is itself omitted.
  EXPECT_EQ(open_edited(with_task(fb::TaskKind::classify), &fault), Status::kOk);
}

TEST(Linked, DamagedFilesAreStillFound) {
  Fault fault;
  EXPECT_EQ(open_edited([](auto& m) { op(m, "tag").inputs[0] = 4000; }, &fault), Status::kCorrupt);
  EXPECT_EQ(name_of(fault), "tag");
  EXPECT_STREQ(fault.what, "");
}

TEST(Linked, OptionsOfHosts) {
  const FileBytes file(build(random_bert(BertShape(), 3), WeightType::kI8).finish());
  Model model;
  ASSERT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  const SessionOptions plain;
  Arena arena(arena_bytes(model, plain));
  const auto create = [&](const SessionOptions& options) {
    Session* session = nullptr;
    return Session::create(model, options, arena.bytes, arena_bytes(model, plain), &session);
  };
  EXPECT_EQ(create(plain), Status::kOk);
  const Parallel parallel;
  SessionOptions options;
  options.parallel = &parallel;
  EXPECT_EQ(create(options), Status::kUnavailable);
  EXPECT_EQ(arena_bytes(model, options), 0u);
  const LinearBackend backend;
  options = plain;
  options.backend = &backend;
  EXPECT_EQ(create(options), Status::kUnavailable);
  options = plain;
  options.f32_attention = true;
  EXPECT_EQ(create(options), Status::kUnavailable);
  options = plain;
  options.isa = Isa::kAvx2;
  EXPECT_EQ(create(options), Status::kUnavailable);
  options.isa = Isa::kReference;
  EXPECT_EQ(create(options), Status::kOk);
}

}  // namespace
}  // namespace bantam::testing
