// hostile_test.cpp for rows of the previous token.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_previous_test {
namespace {

constexpr uint32_t kIds = 9, kWidth = 6;

/// Each row is the previous row, starting with the mean of a text's embeddings.
ModelBuilder previous_model() {
  ModelBuilder b;
  const int32_t x = embedded_ids(b, kIds, kWidth);
  b.step(1);
  const int32_t mean = b.activation("mean", 1, kWidth);
  fb::PoolT pool;
  pool.kind = fb::PoolKind::mean;
  b.op("mean", attributes(pool), {x}, {mean});
  b.step(0);
  const int32_t before = b.activation("before", 0, kWidth), y = b.output("y", 0, kWidth);
  b.op("previous", attributes(fb::PreviousT{}), {y, mean}, {before});
  b.op("row", attributes(fb::RowT{}), {before}, {y});
  return b;
}

fb::OpT& previous(fb::ModelT& m) { return *m.subgraphs[0]->ops[2]; }

/// Replaces input `at` by a changed copy of it.
std::function<void(fb::ModelT&)> reads(size_t at, const std::function<void(fb::TensorT&)>& change) {
  return [=](fb::ModelT& m) { previous(m).inputs[at] = add_like(m, previous(m).inputs[at], change); };
}

const char* const kNoRows = "rows of tokens before are shared f32 rows of tokens";
const char* const kNoFirst = "what a first token takes is not f32 rows of sequences of the same width";

const OpEdit kEdits[] = {
    {"rows of sequences", reads(0, as_rows_of_sequences), Status::kCorrupt, kNoRows},
    {"rows in a tile", reads(0, in_tile), Status::kCorrupt, kNoRows},
    {"rows as i8", reads(0, as_i8), Status::kCorrupt, kNoRows},
    {"rows in pages", reads(0, as_pages), Status::kCorrupt, kNoRows},
    {"rows of a source", reads(0, as_state), Status::kCorrupt, kNoRows},
    {"a first row that is a constant", [](auto& m) { previous(m).inputs[1] = m.subgraphs[0]->ops[0]->inputs[0]; },
     Status::kCorrupt, kNoFirst},
    {"a first row of tokens", [](auto& m) { previous(m).inputs[1] = previous(m).inputs[0]; }, Status::kCorrupt,
     kNoFirst},
    {"a first row in a tile", reads(1, in_tile), Status::kCorrupt, kNoFirst},
    {"a first row as i8", reads(1, as_i8), Status::kCorrupt, kNoFirst},
    {"a first row in pages", reads(1, as_pages), Status::kCorrupt, kNoFirst},
    {"a first row of a source", reads(1, as_state), Status::kCorrupt, kNoFirst},
    {"a first row of another width", reads(1, [](auto& t) { t.shape[1] = fb::Dim(-1, 0, kWidth + 1, 1); }),
     Status::kCorrupt, kNoFirst},
    {"a row of the token before that is written first",
     [](auto& m) {
       std::swap(m.subgraphs[0]->ops[2], m.subgraphs[0]->ops[3]);
       m.subgraphs[0]->ops[2]->inputs[0] = m.subgraphs[0]->ops[0]->outputs[0];
     },
     Status::kCorrupt, "a row of the token before is one of an earlier step"},
};

TEST(HostilePrevious, IsRefusedWithAReason) { expect_refused(kEdits, previous_model); }

}  // namespace
}  // namespace bantam::testing::hostile_previous_test
