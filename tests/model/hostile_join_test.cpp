// hostile_test.cpp for rows side by side (Join).
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_join_test {
namespace {

constexpr uint32_t kIds = 9, kWidth = 5;

ModelBuilder join_model() {
  ModelBuilder b;
  const int32_t x = embedded_ids(b, kIds, kWidth);
  b.step(0);
  const int32_t y = b.output("y", 0, 2 * kWidth);
  b.op("join", attributes(fb::JoinT{}), {x, x}, {y});
  return b;
}

fb::OpT& join(fb::ModelT& m) { return *m.subgraphs[0]->ops[1]; }
fb::TensorT& named(fb::ModelT& m, int32_t index) { return *m.tensors[static_cast<size_t>(index)]; }

const OpEdit kEdits[] = {
    {"the first absent", [](auto& m) { join(m).inputs[0] = -1; }},
    {"the second absent", [](auto& m) { join(m).inputs[1] = -1; }},
    {"a constant", [](auto& m) { join(m).inputs[1] = m.subgraphs[0]->ops[0]->inputs[0]; }},
    {"rows as i8", [](auto& m) { named(m, join(m).inputs[0]).type = fb::DType::i8; }},
    {"rows of sequences", [](auto& m) { named(m, join(m).inputs[0]).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"an output too narrow",
     [](auto& m) { named(m, join(m).outputs[0]).shape[1] = fb::Dim(-1, 0, 2 * kWidth - 1, 1); }},
    {"an output too wide", [](auto& m) { named(m, join(m).outputs[0]).shape[1] = fb::Dim(-1, 0, 2 * kWidth + 1, 1); }},
    {"an output over an input", [](auto& m) { join(m).outputs[0] = join(m).inputs[1]; }},
    {"no output", [](auto& m) { join(m).outputs[0] = -1; }},
    {"rows too wide together",
     [](auto& m) {
       const int32_t wide =
           add_like(m, join(m).inputs[0], [](auto& t) { t.shape[1] = fb::Dim(-1, 0, (1 << 21) + 1, 1); });
       join(m).inputs = {wide, wide};
     },
     Status::kCorrupt, "rows side by side are too wide"},
    {"an input too many", [](auto& m) { join(m).inputs.push_back(join(m).inputs[0]); }},
};

TEST(HostileJoin, IsRefusedWithAReason) { expect_refused(kEdits, join_model); }

}  // namespace
}  // namespace bantam::testing::hostile_join_test
