// hostile_test.cpp for rows that scores select, and for the task that searches the ends of answers with them.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_select_test {
namespace {

constexpr uint32_t kIds = 9;

/// Scores of beginnings, of ends after the best beginnings, and of "no answer".
ModelBuilder search_model() {
  ModelBuilder b;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const int32_t words = b.table("words", kIds, 1, std::vector<float>(kIds), WeightType::kF32);
  const auto embed = [&](const char* name, int32_t y) {
    fb::EmbedT one;
    one.tables.push_back(std::make_unique<fb::EmbedTableT>());
    fb::OpT& op = b.op(name, attributes(one), {}, {y});
    op.attributes.AsEmbed()->tables[0]->tensor = name_input(op, words);
  };
  b.step(0);
  const int32_t scores = b.output("begins", 0, 1), x = b.activation("x", 0, 1);
  embed("scores", scores);
  embed("rows", x);
  b.step(0);
  const int32_t ends = b.output("ends", 0, 1), mean = b.activation("mean", 0, 1);
  fb::SelectT best;
  best.rank = 2;
  b.op("best", attributes(best), {scores, x, x}, {ends});
  fb::SelectT all;
  all.mean = true;
  b.op("all", attributes(all), {scores, x, x}, {mean});
  b.step(1);
  const int32_t none = b.output("none", 1, 1);
  fb::PoolT last;
  last.kind = fb::PoolKind::last;
  b.op("last", attributes(last), {mean}, {none});
  b.model.outputs[0]->role = fb::OutputRole::begin;
  b.model.outputs[1]->role = fb::OutputRole::end;
  b.model.outputs[2]->role = fb::OutputRole::unanswerable;
  b.model.task = std::make_unique<fb::TaskT>();
  b.model.task->kind = fb::TaskKind::answer;
  b.model.task->beam_ends = 3;
  return b;
}

fb::OpT& select(fb::ModelT& m) { return *m.subgraphs[0]->ops[2]; }
fb::TensorT& read(fb::ModelT& m, size_t i) { return *m.tensors[static_cast<size_t>(select(m).inputs[i])]; }
void repeat_ends(fb::ModelT& m, size_t count) {
  while (count-- > 0) m.outputs.push_back(std::make_unique<fb::OutputT>(*m.outputs[1]));
}

const OpEdit kEdits[] = {
    {"scores absent", [](auto& m) { select(m).inputs[0] = -1; }},
    {"rows absent", [](auto& m) { select(m).inputs[1] = -1; }},
    {"rows to select from absent", [](auto& m) { select(m).inputs[2] = -1; }},
    {"scores that are a constant", [](auto& m) { select(m).inputs[0] = m.subgraphs[0]->ops[0]->inputs[0]; }},
    {"rows that are a constant", [](auto& m) { select(m).inputs[2] = m.subgraphs[0]->ops[0]->inputs[0]; }},
    {"scores in a tile", [](auto& m) { read(m, 0).region = fb::Region::tile; }},
    {"scores of sequences", [](auto& m) { select(m).inputs[0] = m.subgraphs[0]->ops[4]->outputs[0]; }},
    {"scores of two columns", [](auto& m) { read(m, 0).shape[1] = fb::Dim(-1, 0, 2, 1); }},
    {"rows of another width", [](auto& m) { read(m, 2).shape[1] = fb::Dim(-1, 0, 2, 1); }},
    {"rows as i8", [](auto& m) { read(m, 2).type = fb::DType::i8; }},
    {"rows selected from the op's own output", [](auto& m) { select(m).inputs[2] = select(m).outputs[0]; }},
    {"a rank beyond all", [](auto& m) { select(m).attributes.AsSelect()->rank = 64; }},
    {"an output over its scores", [](auto& m) { select(m).outputs[0] = select(m).inputs[0]; }},
    {"no output", [](auto& m) { select(m).outputs[0] = -1; }},
    {"an input too many", [](auto& m) { select(m).inputs.push_back(select(m).inputs[0]); }},
    {"a step of sequences", [](auto& m) { m.subgraphs[0]->steps[1]->rows = 1; }},
    {"one step",
     [](auto& m) {
       m.subgraphs[0]->steps.erase(m.subgraphs[0]->steps.begin());
       m.subgraphs[0]->steps[0]->op_count = 4;
     }},
    {"too many ends", [](auto& m) { m.task->beam_ends = 65; }},
    {"too many beginnings", [](auto& m) { repeat_ends(m, 64); }},
    {"a second beginning whose ends are of sequences",
     [](auto& m) {
       repeat_ends(m, 1);
       m.outputs.back()->tensor = m.outputs[2]->tensor;
     }},
    {"no beginnings", [](auto& m) { m.outputs[0]->role = fb::OutputRole::none; }},
    {"no ends", [](auto& m) { m.outputs[1]->role = fb::OutputRole::none; }},
    {"no score that there is no answer", [](auto& m) { m.outputs[2]->role = fb::OutputRole::none; }},
    {"such a score of tokens", [](auto& m) { m.outputs[2]->tensor = m.outputs[1]->tensor; }},
};

TEST(HostileSelect, IsRefusedWithAReason) { expect_refused(kEdits, search_model); }

TEST(HostileSelect, TakesAsManyBeginningsAndEndsAsItSays) {
  ModelBuilder builder = search_model();
  repeat_ends(builder.model, 63);
  builder.model.task->beam_ends = 64;
  select(builder.model).attributes.AsSelect()->rank = 63;
  Fault fault;
  EXPECT_EQ(open(builder, &fault), Status::kOk) << fault.what;
}

}  // namespace
}  // namespace bantam::testing::hostile_select_test
