// hostile_test.cpp for Fourier transforms over tokens.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_fourier_test {
namespace {

constexpr uint32_t kIds = 9, kWidth = 21;

ModelBuilder fourier_model() {
  ModelBuilder b;
  const int32_t x = embedded_ids(b, kIds, kWidth);
  b.step(0);
  b.op("fourier", attributes(fb::FourierT()), {x}, {b.output("y", 0, kWidth)});
  return b;
}

fb::OpT& fourier(fb::ModelT& m) { return *m.subgraphs[0]->ops[1]; }
fb::TensorT& read(fb::ModelT& m) { return *m.tensors[static_cast<size_t>(fourier(m).inputs[0])]; }
fb::TensorT& written(fb::ModelT& m) { return *m.tensors[static_cast<size_t>(fourier(m).outputs[0])]; }

const OpEdit kEdits[] = {
    {"rows absent", [](auto& m) { fourier(m).inputs[0] = -1; }},
    {"rows that are a constant", [](auto& m) { fourier(m).inputs[0] = m.subgraphs[0]->ops[0]->inputs[0]; }},
    {"rows as i8", [](auto& m) { read(m).type = fb::DType::i8; }},
    {"rows of a tile", [](auto& m) { read(m).region = fb::Region::tile; }},
    {"rows of sequences", [](auto& m) { read(m).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"rows that the same step writes",
     [](auto& m) {
       auto& steps = m.subgraphs[0]->steps;
       steps[0]->op_count += steps[1]->op_count;
       steps.pop_back();
     }},
    {"a step of sequences", [](auto& m) { m.subgraphs[0]->steps[1]->rows = 1; }},
    {"an output too narrow", [](auto& m) { written(m).shape[1] = fb::Dim(-1, 0, kWidth - 1, 1); }},
    {"an output over its input", [](auto& m) { fourier(m).outputs[0] = fourier(m).inputs[0]; }},
    {"no output", [](auto& m) { fourier(m).outputs[0] = -1; }},
    {"an input too many", [](auto& m) { fourier(m).inputs.push_back(fourier(m).inputs[0]); }},
};

TEST(HostileFourier, IsRefusedWithAReason) { expect_refused(kEdits, fourier_model); }

}  // namespace
}  // namespace bantam::testing::hostile_fourier_test
