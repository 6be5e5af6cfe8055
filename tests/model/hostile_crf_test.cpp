// hostile_test.cpp for conditional random fields.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_crf_test {
namespace {

constexpr uint32_t kIds = 70, kTags = 5;

ModelBuilder chain_model() {
  ModelBuilder b;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const int32_t words = b.table("words", kIds, kTags, std::vector<float>(kIds * kTags), WeightType::kF32);
  const int32_t transitions =
      b.table("transitions", kTags + 2, kTags, std::vector<float>((kTags + 2) * kTags), WeightType::kF32);
  const int32_t members = b.vector("members", std::vector<float>((kIds + 31) / 32));
  b.model.tensors[static_cast<size_t>(members)]->type = fb::DType::i32;
  b.step(0);
  const int32_t scores = b.activation("scores", 0, kTags);
  fb::EmbedT embed;
  embed.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& op = b.op("embed", attributes(embed), {}, {scores});
  op.attributes.AsEmbed()->tables[0]->tensor = name_input(op, words);
  b.step(1);
  const int32_t tags = b.output("tags", 0, kTags);
  b.op("crf", attributes(fb::CrfT{}), {scores, transitions, members}, {tags});
  return b;
}

fb::OpT& crf(fb::ModelT& m) { return *m.subgraphs[0]->ops[1]; }
fb::TensorT& operand(fb::ModelT& m, size_t i) { return *m.tensors[static_cast<size_t>(crf(m).inputs[i])]; }
fb::TensorT& written(fb::ModelT& m) { return *m.tensors[static_cast<size_t>(crf(m).outputs[0])]; }
fb::Dim fixed(int32_t n) { return {-1, 0, n, 1}; }

const OpEdit kEdits[] = {
    {"a step of tokens", [](auto& m) { m.subgraphs[0]->steps[1]->rows = 0; }},
    {"scores absent", [](auto& m) { crf(m).inputs[0] = -1; }},
    {"scores that are a constant", [](auto& m) { crf(m).inputs[0] = crf(m).inputs[1]; }},
    {"scores as i8", [](auto& m) { operand(m, 0).type = fb::DType::i8; }},
    {"transitions absent", [](auto& m) { crf(m).inputs[1] = -1; }},
    {"transitions of fewer tags", [](auto& m) { operand(m, 1).shape[0] = fixed(6); }},
    {"transitions of more tags", [](auto& m) { operand(m, 1).shape[1] = fixed(6); }},
    {"transitions that are a vector", [](auto& m) { operand(m, 1).shape = {fixed(35)}; }},
    {"transitions as f16", [](auto& m) { operand(m, 1).type = fb::DType::f16; }},
    {"transitions that are scores", [](auto& m) { crf(m).inputs[1] = crf(m).inputs[0]; }},
    {"members of fewer ids", [](auto& m) { operand(m, 2).shape[0] = fixed(2); }},
    {"members of more ids", [](auto& m) { operand(m, 2).shape[0] = fixed(4); }},
    {"members as f32", [](auto& m) { operand(m, 2).type = fb::DType::f32; }},
    {"members that are scores", [](auto& m) { crf(m).inputs[2] = crf(m).inputs[0]; }},
    {"an input too many", [](auto& m) { crf(m).inputs.push_back(crf(m).inputs[1]); }},
    {"no output", [](auto& m) { crf(m).outputs[0] = -1; }},
    {"two outputs", [](auto& m) { crf(m).outputs.push_back(crf(m).inputs[0]); }},
    {"an output over its input", [](auto& m) { crf(m).outputs[0] = crf(m).inputs[0]; }},
    {"an output of another width", [](auto& m) { written(m).shape[1] = fixed(4); }},
    {"an output of sequences", [](auto& m) { written(m).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"an epilogue", [](auto& m) { crf(m).epilogue = std::make_unique<fb::EpilogueT>(); }},
};

TEST(HostileCrf, IsRefusedWithAReason) { expect_refused(kEdits, chain_model); }

/// Without members, all tokens are in the chain; more tokens may be skipped than a text has.
TEST(HostileCrf, OpensWithoutMembersAndWithAnySkips) {
  ModelBuilder builder = chain_model();
  Fault fault;
  crf(builder.model).inputs[2] = -1;
  crf(builder.model).attributes.AsCrf()->skip_first = UINT32_MAX;
  crf(builder.model).attributes.AsCrf()->skip_last = UINT32_MAX;
  EXPECT_EQ(open(builder, &fault), Status::kOk) << fault.what;
}

}  // namespace
}  // namespace bantam::testing::hostile_crf_test
