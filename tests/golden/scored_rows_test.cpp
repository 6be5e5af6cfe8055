// Word scores that are computed for some tokens only: they have the same bits as when all are computed, for any rows,
// threads and tiles; and the arena is smaller.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bantam/session.h"
#include "bantam/tasks.h"
#include "golden/expected.h"
#include "graph/builder.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "tests/session/run_helpers.h"

namespace bantam::golden::scored_rows_test {
namespace {

constexpr uint32_t kSequences = 7, kLongest = 24, kVocabulary = 37;

convert::FileBytes file_of(const std::string& model, fb::DType type) {
  convert::TypeOptions types;
  types.weights = type;
  types.small_matrix = 0;
  return convert::build(convert::import_hugging_face(model_directory(model)), types);
}

class Opened {
 public:
  Opened(const convert::FileBytes& file, SessionOptions options) {
    EXPECT_EQ(Model::open(file.data(), file.size(), &model_), Status::kOk);
    options.max_tokens = kSequences * kLongest;
    options.max_sequences = kSequences;
    bytes_ = arena_bytes(model_, options);
    arena_ = std::make_unique<testing::Arena>(bytes_);
    EXPECT_EQ(Session::create(model_, options, arena_->data(), bytes_, &session_), Status::kOk);
  }
  Session& session() { return *session_; }
  const Model& model() const { return model_; }
  size_t bytes() const { return bytes_; }
  /// Number of the output with scores of words.
  uint32_t words() const { return 0; }

 private:
  Model model_;
  size_t bytes_ = 0;
  std::unique_ptr<testing::Arena> arena_;
  Session* session_ = nullptr;
};

testing::Ids some_ids() { return testing::random_ids({1, 24, 3, 17, 16, 5, 9}, kVocabulary, 1, 3); }

std::vector<float> row_of(const OutputView& view, uint32_t row) {
  return {view.data + row * view.stride, view.data + row * view.stride + view.width};
}

/// Lists of isolated rows, adjacent rows and rows at both ends; all rows; one row.
std::vector<std::vector<uint32_t>> lists(uint32_t tokens) {
  std::vector<std::vector<uint32_t>> all = {{0}, {tokens - 1}, {0, 1, 2, 7, 8, 30, tokens - 2, tokens - 1}, {}};
  for (uint32_t row = 0; row < tokens; ++row) all.back().push_back(row);
  std::mt19937 random(9);
  all.emplace_back();
  for (uint32_t row = 0; row < tokens; ++row) {
    if (random() % 3 == 0) all.back().push_back(row);
  }
  return all;
}

void expect_same_scores(const convert::FileBytes& file, const SessionOptions& options) {
  testing::Ids ids = some_ids();
  Batch batch = ids.batch();
  batch.segments = nullptr;
  Opened whole(file, options);
  ASSERT_EQ(whole.session().run(batch), Status::kOk);
  OutputView all;
  ASSERT_EQ(whole.session().output(whole.words(), &all), Status::kOk);
  ASSERT_EQ(all.numbers, nullptr);
  SessionOptions some = options;
  some.scored_rows = batch.tokens;
  Opened alone(file, some);
  for (const std::vector<uint32_t>& rows : lists(batch.tokens)) {
    batch.rows = rows.data();
    batch.row_count = static_cast<uint32_t>(rows.size());
    ASSERT_EQ(alone.session().run(batch), Status::kOk);
    OutputView view;
    ASSERT_EQ(alone.session().output(alone.words(), &view), Status::kOk);
    ASSERT_EQ(view.rows, rows.size());
    for (uint32_t i = 0; i < view.rows; ++i) {
      EXPECT_EQ(row_of(view, i), row_of(all, rows[i])) << rows[i];
      if (rows.size() < batch.tokens) {
        EXPECT_EQ(view.numbers[i], rows[i]);
      }
    }
    for (uint32_t sequence = 0, at = 0; sequence < batch.sequences; ++sequence) {
      ASSERT_EQ(alone.session().output(alone.words(), sequence, &view), Status::kOk);
      for (uint32_t i = 0; i < view.rows; ++i, ++at) EXPECT_EQ(row_of(view, i), row_of(all, rows[at]));
    }
  }
}

TEST(ScoredRows, HaveTheBitsOfAllRows) {
  for (const char* model :
       {"bert-fill", "bert-pretraining", "albert-fill", "electra-fill", "deberta-v3-fill", "modernbert-fill"}) {
    for (const fb::DType type : {fb::DType::f32, fb::DType::i8}) {
      SCOPED_TRACE(std::string(model) + ", " + fb::EnumNameDType(type));
      const convert::FileBytes file = file_of(model, type);
      expect_same_scores(file, {});
      SessionOptions small;
      small.tile_rows = 4;
      small.block_rows = 1;
      expect_same_scores(file, small);
      const testing::Threads threads(3);
      SessionOptions several;
      several.workers = 3;
      several.parallel = threads.get();
      expect_same_scores(file, several);
    }
  }
}

TEST(ScoredRows, TakeNoMemoryForOthers) {
  for (const fb::DType type : {fb::DType::f32, fb::DType::i8}) {
    const convert::FileBytes file = file_of("bert-fill", type);
    Opened whole(file, {});
    const uint64_t row = (whole.model().vocabulary() + 15) / 16 * 16 * sizeof(float);
    SessionOptions some;
    some.scored_rows = 2;
    Opened alone(file, some);
    // The plan places the memory for scores after everything else.
    EXPECT_LE(alone.bytes() + (kSequences * kLongest - 2 - 16) * row / 2, whole.bytes());
    some.scored_rows = 3;
    EXPECT_LE(Opened(file, some).bytes(), alone.bytes() + row + 64);
  }
}

TEST(ScoredRows, AreRefusedWhereTheyAreNone) {
  const convert::FileBytes file = file_of("bert-fill", fb::DType::i8);
  SessionOptions options;
  options.scored_rows = 2;
  Opened opened(file, options);
  testing::Ids ids = some_ids();
  Batch batch = ids.batch();
  batch.segments = nullptr;
  const auto run = [&](const std::vector<uint32_t>& rows) {
    batch.rows = rows.data();
    batch.row_count = static_cast<uint32_t>(rows.size());
    return opened.session().run(batch);
  };
  EXPECT_EQ(run({3, 4}), Status::kOk);
  EXPECT_EQ(run({4, 3}), Status::kInvalidArgument);
  EXPECT_EQ(run({4, 4}), Status::kInvalidArgument);
  EXPECT_EQ(run({3, batch.tokens}), Status::kIndexOutOfRange);
  EXPECT_EQ(run({1, 2, 3}), Status::kTooManyTokens);
  batch.row_count = 0;
  EXPECT_EQ(opened.session().run(batch), Status::kInvalidArgument);
  OutputView view;
  EXPECT_EQ(opened.session().output(0, &view), Status::kNotRun);
  batch.rows = nullptr;
  EXPECT_EQ(opened.session().run(batch), Status::kTooManyTokens);  // all rows
  batch.last_rows = true;
  EXPECT_EQ(opened.session().run(batch), Status::kTooManyTokens);  // rows of seven texts
  Opened whole(file, {});
  batch.last_rows = false;
  EXPECT_EQ(whole.session().run(batch), Status::kOk);
  EXPECT_EQ(run({3}), Status::kOk);
  const uint32_t rows[] = {3};
  batch.rows = rows;
  batch.row_count = 1;
  EXPECT_EQ(whole.session().run(batch), Status::kInvalidArgument);
  for (const char* other : {"bert-classify", "bert-tag"}) {
    const convert::FileBytes bytes = file_of(other, fb::DType::i8);
    Model model;
    ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
    EXPECT_EQ(arena_bytes(model, options), 0) << other;
  }
}

TEST(ScoredRows, FillMasksOfTexts) {
  const convert::FileBytes file = file_of("bert-fill", fb::DType::i8);
  SessionOptions options;
  Opened whole(file, options);
  options.scored_rows = 2;
  Opened alone(file, options);
  std::vector<uint32_t> rows;
  for (Opened* opened : {&whole, &alone}) {
    Session& session = opened->session();
    session.clear();
    for (const std::string& text : {std::string("[MASK] a"), std::string("a [MASK] b"), std::string("a b")}) {
      ASSERT_EQ(session.add({text.data(), text.size()}, {}, {}), Status::kOk);
    }
    rows.clear();
    for (uint32_t i = 0; i < session.sequence_count(); ++i) {
      const EncodedSequence encoded = session.sequence(i);
      for (uint32_t row = 0; row < encoded.row_count; ++row) {
        if (encoded.ids[row] == session.tokenizer()->mask_id()) rows.push_back(encoded.row_begin + row);
      }
    }
    ASSERT_EQ(rows.size(), 2);
    ASSERT_EQ(opened == &whole ? session.run() : session.run(rows.data(), 2), Status::kOk);
  }
  for (uint32_t sequence = 0; sequence < 2; ++sequence) {
    Candidate a[3], b[3];
    uint32_t found = 0;
    ASSERT_EQ(fill(whole.session(), sequence, 0, a, 3, &found), Status::kOk);
    ASSERT_EQ(fill(alone.session(), sequence, 0, b, 3, &found), Status::kOk);
    EXPECT_EQ(std::memcmp(a, b, sizeof(a)), 0);
    EXPECT_EQ(fill(alone.session(), sequence, 1, b, 3, &found), Status::kIndexOutOfRange);
  }
  // Masks are found if the caller names none.
  for (uint32_t sequence = 0; sequence < 2; ++sequence) {
    Candidate a[3], b[3];
    uint32_t found = 0;
    ASSERT_EQ(alone.session().run_masks(), Status::kOk);
    ASSERT_EQ(fill(whole.session(), sequence, 0, a, 3, &found), Status::kOk);
    ASSERT_EQ(fill(alone.session(), sequence, 0, b, 3, &found), Status::kOk);
    EXPECT_EQ(std::memcmp(a, b, sizeof(a)), 0);
  }
  OutputView view;
  ASSERT_EQ(alone.session().output(0, &view), Status::kOk);
  EXPECT_EQ(view.rows, 2);
  ASSERT_EQ(whole.session().run_masks(), Status::kOk);  // all rows
  ASSERT_EQ(whole.session().output(0, &view), Status::kOk);
  EXPECT_GT(view.rows, 6);
  ASSERT_EQ(alone.session().run(rows.data(), 1), Status::kOk);
  Candidate one;
  uint32_t found = 0;
  EXPECT_EQ(fill(alone.session(), 1, 0, &one, 1, &found), Status::kNotRun);
  ASSERT_EQ(alone.session().add({"[MASK]", 6}, {}, {}), Status::kOk);
  EXPECT_EQ(alone.session().run_masks(), Status::kTooManyTokens);  // three masks
  EXPECT_EQ(alone.session().output(0, &view), Status::kNotRun);
  alone.session().clear();
  EXPECT_EQ(alone.session().run_masks(), Status::kInvalidArgument);
  ASSERT_EQ(alone.session().add({"a b", 3}, {}, {}), Status::kOk);
  ASSERT_EQ(alone.session().run_masks(), Status::kOk);  // no mask
  ASSERT_EQ(alone.session().output(0, &view), Status::kOk);
  EXPECT_EQ(view.rows, 1);
}

}  // namespace
}  // namespace bantam::golden::scored_rows_test
