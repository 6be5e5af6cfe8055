// hostile_test.cpp for scans.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_scan_test {
namespace {

constexpr uint32_t kIds = 9, kWidth = 21, kPadded = 32, kStates = 3;

uint32_t states_of(fb::ScanKind kind) {
  return kind == fb::ScanKind::selective ? kStates : kind == fb::ScanKind::weighted ? 2 : 1;
}

/// A scan over slices of the same embeddings.
ModelBuilder model_of(fb::ScanKind kind) {
  const uint32_t states = states_of(kind);
  ModelBuilder b;
  const int32_t rates =
      b.table("rates", states, kPadded, std::vector<float>(states * kPadded, -0.25F), WeightType::kF32);
  const int32_t skip = b.vector("skip", std::vector<float>(kWidth, 1.0F));
  const int32_t x = embedded_ids(b, kIds, kWidth);
  const auto part = [&](const char* name, uint32_t width) {
    const int32_t rows = b.activation(name, 0, width);
    fb::SliceT slice;
    slice.width = width;
    b.op(name, attributes(slice), {x}, {rows});
    return rows;
  };
  const int32_t steps = part("steps", kWidth);
  std::vector<int32_t> inputs = {x, steps, rates};
  if (kind == fb::ScanKind::selective) inputs.insert(inputs.end(), {part("in", states), part("out", states), skip});
  b.step(1);
  fb::ScanT scan;
  scan.kind = kind;
  scan.states = states;
  b.op("scan", attributes(scan), inputs, {b.output("y", 0, kWidth)});
  return b;
}

ModelBuilder selective_model() { return model_of(fb::ScanKind::selective); }
ModelBuilder gated_model() { return model_of(fb::ScanKind::gated); }
ModelBuilder weighted_model() { return model_of(fb::ScanKind::weighted); }

fb::OpT& scan(fb::ModelT& m) { return *m.subgraphs[0]->ops.back(); }
fb::ScanT& fields(fb::ModelT& m) { return *scan(m).attributes.AsScan(); }
fb::TensorT& operand(fb::ModelT& m, size_t i) { return *m.tensors[static_cast<size_t>(scan(m).inputs[i])]; }
fb::TensorT& written(fb::ModelT& m) { return *m.tensors[static_cast<size_t>(scan(m).outputs[0])]; }
fb::Dim fixed(int32_t n) { return {-1, 0, n, 1}; }
void swap(fb::ModelT& m, size_t a, size_t b) { std::swap(scan(m).inputs[a], scan(m).inputs[b]); }

const OpEdit kEdits[] = {
    {"a step of tokens", [](auto& m) { m.subgraphs[0]->steps[1]->rows = 0; }},
    {"an epilogue", [](auto& m) { scan(m).epilogue = std::make_unique<fb::EpilogueT>(); }},
    {"an unknown kind", [](auto& m) { fields(m).kind = static_cast<fb::ScanKind>(3); }},
    {"another kind", [](auto& m) { fields(m).kind = fb::ScanKind::gated; }},
    {"another kind with one state",
     [](auto& m) {
       fields(m).kind = fb::ScanKind::gated;
       fields(m).states = 1;
       operand(m, 2).shape[0] = fixed(1);
     }},
    {"no states", [](auto& m) { fields(m).states = 0; }},
    {"a state less", [](auto& m) { fields(m).states = kStates - 1; }},
    {"states whose number wraps", [](auto& m) { fields(m).states = UINT32_MAX; }},
    {"more states than there may be",
     [](auto& m) {
       fields(m).states = 257;
       operand(m, 2).shape[0] = fixed(257);
     }},
    {"rows absent", [](auto& m) { scan(m).inputs[0] = -1; }},
    {"rows that are a constant", [](auto& m) { swap(m, 0, 2); }},
    {"rows as i8", [](auto& m) { operand(m, 0).type = fb::DType::i8; }},
    {"rows of a tile", [](auto& m) { operand(m, 0).region = fb::Region::tile; }},
    {"rows of another width", [](auto& m) { swap(m, 0, 3); }},
    {"steps absent", [](auto& m) { scan(m).inputs[1] = -1; }},
    {"steps of another width", [](auto& m) { swap(m, 1, 4); }},
    {"steps of sequences", [](auto& m) { operand(m, 1).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"rates absent", [](auto& m) { scan(m).inputs[2] = -1; }},
    {"rates that are not a constant", [](auto& m) { scan(m).inputs[2] = scan(m).inputs[0]; }},
    {"rates as i32", [](auto& m) { operand(m, 2).type = fb::DType::i32; }},
    {"rates in tiles", [](auto& m) { operand(m, 2).layout = fb::Layout::tile_n16; }},
    {"rates of one extent", [](auto& m) { operand(m, 2).shape = {fixed(kStates * kPadded)}; }},
    {"rates without room behind columns", [](auto& m) { operand(m, 2).shape[1] = fixed(kWidth); }},
    {"rates of a state less", [](auto& m) { operand(m, 2).shape[0] = fixed(kStates - 1); }},
    {"factors in absent", [](auto& m) { scan(m).inputs[3] = -1; }},
    {"factors in of another width", [](auto& m) { scan(m).inputs[3] = scan(m).inputs[0]; }},
    {"factors out absent", [](auto& m) { scan(m).inputs[4] = -1; }},
    {"factors out of another width", [](auto& m) { scan(m).inputs[4] = scan(m).inputs[1]; }},
    {"factors out that are a constant", [](auto& m) { scan(m).inputs[4] = scan(m).inputs[5]; }},
    {"a skip of another length", [](auto& m) { operand(m, 5).shape[0] = fixed(kWidth - 1); }},
    {"a skip that is rows", [](auto& m) { scan(m).inputs[5] = scan(m).inputs[0]; }},
    {"no output", [](auto& m) { scan(m).outputs[0] = -1; }},
    {"an output of another width", [](auto& m) { written(m).shape[1] = fixed(kWidth - 1); }},
    {"an output of sequences", [](auto& m) { written(m).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"an output over its rows", [](auto& m) { scan(m).outputs[0] = scan(m).inputs[0]; }},
    {"a second output", [](auto& m) { scan(m).outputs.push_back(-1); }},
    {"an input too many", [](auto& m) { scan(m).inputs.push_back(scan(m).inputs[0]); }},
    {"rows that the same step writes",
     [](auto& m) {
       auto& steps = m.subgraphs[0]->steps;
       steps[0]->op_count += steps[1]->op_count;
       steps.pop_back();
     }},
};

// These kinds have no factors of states.
const OpEdit kBareEdits[] = {
    {"factors of states", [](auto& m) { scan(m).inputs.push_back(scan(m).inputs[0]); }},
    {"a skip",
     [](auto& m) {
       scan(m).inputs.insert(scan(m).inputs.end(), {-1, -1, 0});
       for (size_t t = 0; t < m.tensors.size(); ++t) {
         if (m.tensors[t]->name == "skip") scan(m).inputs.back() = static_cast<int32_t>(t);
       }
     }},
    {"another number of states",
     [](auto& m) {
       fields(m).states = 3 - fields(m).states;
       operand(m, 2).shape[0] = fixed(static_cast<int32_t>(fields(m).states));
     }},
    {"three states",
     [](auto& m) {
       fields(m).states = 3;
       operand(m, 2).shape[0] = fixed(3);
     }},
    {"the kind of others", [](auto& m) { fields(m).kind = fb::ScanKind::selective; }},
};

TEST(HostileScan, IsRefusedWithAReason) { expect_refused(kEdits, selective_model); }
TEST(HostileScan, GatedIsRefusedWithAReason) { expect_refused(kBareEdits, gated_model); }
TEST(HostileScan, WeightedIsRefusedWithAReason) { expect_refused(kBareEdits, weighted_model); }

}  // namespace
}  // namespace bantam::testing::hostile_scan_test
