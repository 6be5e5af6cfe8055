// hostile_test.cpp for rows beside their neighbors (Unfold).
#include <gtest/gtest.h>

#include "tests/model/hostile.h"
#include "tests/session/bert.h"

namespace bantam::testing::hostile_unfold_test {
namespace {

BertShape shape_with_neighbours() {
  BertShape shape;
  shape.before = 2;
  shape.after = 1;
  return shape;
}

fb::OpT& unfold(fb::ModelT& m) {
  for (const auto& o : m.subgraphs[0]->ops) {
    if (o->name == "unfold") return *o;
  }
  throw std::runtime_error("no op");
}
fb::TensorT& read(fb::ModelT& m) { return *m.tensors[static_cast<size_t>(unfold(m).inputs[0])]; }
fb::TensorT& written(fb::ModelT& m) { return *m.tensors[static_cast<size_t>(unfold(m).outputs[0])]; }
fb::UnfoldT& attributes_of(fb::ModelT& m) { return *unfold(m).attributes.AsUnfold(); }

const OpEdit kEdits[] = {
    {"rows absent", [](auto& m) { unfold(m).inputs[0] = -1; }},
    {"rows that are a constant", [](auto& m) { unfold(m).inputs[0] = m.subgraphs[0]->ops[1]->inputs[1]; }},
    {"rows as i8", [](auto& m) { read(m).type = fb::DType::i8; }},
    {"rows of a tile", [](auto& m) { read(m).region = fb::Region::tile; }},
    {"rows of sequences", [](auto& m) { read(m).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"rows that the same step writes",
     [](auto& m) {
       auto& steps = m.subgraphs[0]->steps;
       const auto last = steps.end() - 2;  // the step of tokens
       (*(last - 1))->op_count += (*last)->op_count;
       steps.erase(last);
     }},
    {"an output of one neighbour less", [](auto& m) { attributes_of(m).after = 0; }},
    {"an output of one neighbour more", [](auto& m) { attributes_of(m).before = 3; }},
    {"neighbours beyond every width", [](auto& m) { attributes_of(m).before = UINT32_MAX; }},
    {"neighbours whose count wraps", [](auto& m) { attributes_of(m).before = attributes_of(m).after = UINT32_MAX; }},
    {"an output over its input", [](auto& m) { unfold(m).outputs[0] = unfold(m).inputs[0]; }},
    {"an output of another width", [](auto& m) { written(m).shape[1] = fb::Dim(-1, 0, 150, 1); }},
    {"no output", [](auto& m) { unfold(m).outputs[0] = -1; }},
    {"an input too many", [](auto& m) { unfold(m).inputs.push_back(unfold(m).inputs[0]); }},
};

TEST(HostileUnfold, IsRefusedWithAReason) {
  for (const WeightType type : {WeightType::kI8, WeightType::kF32}) {
    expect_refused(kEdits, [type] { return build(random_bert(shape_with_neighbours(), 2), type); });
  }
}

}  // namespace
}  // namespace bantam::testing::hostile_unfold_test
