// hostile_test.cpp for rows of tokens that the pass over a source leaves, and for their readers.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_carried_test {
namespace {

constexpr uint32_t kIds = 9, kWidth = 6;

void add_inputs(ModelBuilder& b) {
  for (const fb::InputKind kind : {fb::InputKind::ids, fb::InputKind::source_ids}) {
    b.model.inputs.push_back(std::make_unique<fb::InputT>());
    b.model.inputs.back()->name = fb::EnumNameInputKind(kind);
    b.model.inputs.back()->kind = kind;
    b.model.inputs.back()->limit = kIds;
  }
}

void source_step(ModelBuilder& b) {
  b.step(0);
  b.model.subgraphs[0]->steps.back()->phase = fb::Phase::source;
}

int32_t embed(ModelBuilder& b, const char* name, uint32_t width) {
  const int32_t words =
      b.table(std::string(name) + ".words", kIds, width, std::vector<float>(kIds * width, 0.5F), WeightType::kF32);
  const int32_t x = b.activation(name, 0, width);
  fb::EmbedT one;
  one.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& op = b.op(name, attributes(one), {}, {x});
  op.attributes.AsEmbed()->tables[0]->tensor = name_input(op, words);
  return x;
}

/// A decoder that attends to the rows of a source (Align).
ModelBuilder aligned_model() {
  ModelBuilder b;
  add_inputs(b);
  source_step(b);
  const int32_t rows = embed(b, "source", kWidth);
  b.model.source_shared_bytes = b.model.shared_bytes;
  const int32_t state = b.activation("state", 0, kWidth);
  as_state(*b.model.tensors.back());
  fb::SliceT all;
  all.width = kWidth;
  b.op("leave", attributes(all), {rows}, {state});
  b.step(0);
  const int32_t x = embed(b, "x", kWidth);
  b.op("look", attributes(fb::AlignT{}), {x, state, state}, {b.output("y", 0, kWidth)});
  return b;
}

fb::OpT& leave(fb::ModelT& m) { return *m.subgraphs[0]->ops[1]; }
fb::OpT& look(fb::ModelT& m) { return *m.subgraphs[0]->ops[3]; }
int32_t state(fb::ModelT& m) { return leave(m).outputs[0]; }

/// Makes the main pass read the state in another way, in a step of tokens or of sequences.
template <typename Table>
void read_by(fb::ModelT& m, Table table, int32_t rows) {
  look(m).attributes = attributes(std::move(table));
  look(m).inputs = {state(m)};
  fb::StepT& step = *m.subgraphs[0]->steps[1];
  --step.op_count;
  m.subgraphs[0]->steps.push_back(std::make_unique<fb::StepT>());
  m.subgraphs[0]->steps.back()->first_op = step.first_op + step.op_count;
  m.subgraphs[0]->steps.back()->op_count = 1;
  m.subgraphs[0]->steps.back()->rows = rows;
}

const OpEdit kEdits[] = {
    {"a slice of rows of tokens", [](auto& m) { read_by(m, fb::SliceT{}, 0); }, Status::kCorrupt,
     "a slice takes a state that is not a row for each source, or in its own pass"},
    {"keys that a slice leaves", [](auto& m) { leave(m).outputs[0] = add_like(m, state(m), as_pages); },
     Status::kCorrupt, "a slice leaves a state of other rows or columns, or not in the pass over a source"},
    {"rows as they are", [](auto& m) { read_by(m, fb::RowT{}, 0); }, Status::kCorrupt,
     "a state of sources is not a row of a step"},
};

TEST(HostileCarried, OfTokensAreRefusedWithAReason) { expect_refused(kEdits, aligned_model); }

/// A decoder with cross-attention; the last step of the source's pass has embeddings shaped like queries.
ModelBuilder crossing_model() {
  ModelBuilder b;
  add_inputs(b);
  source_step(b);
  fb::SplitHeadsT split;
  split.heads = 0;
  split.kv_heads = 1;
  split.head_width = kWidth;
  std::vector<int32_t> states;
  const int32_t both = embed(b, "both", 2 * kWidth);
  for (const fb::Layout layout : {fb::Layout::key_pages, fb::Layout::value_pages}) {
    states.push_back(b.activation(fb::EnumNameLayout(layout), 0, kWidth, fb::DType::f32, layout, 1));
    as_state(*b.model.tensors.back());
  }
  b.op("leave", attributes(split), {both}, {-1, states[0], states[1]});
  source_step(b);
  const int32_t own = embed(b, "own", kWidth), seen = b.activation("seen", 0, kWidth);
  b.op("see", attributes(fb::RowT{}), {own}, {seen});
  b.model.source_shared_bytes = b.model.shared_bytes;
  b.step(0);
  const int32_t x = embed(b, "x", kWidth);
  fb::AttentionT attention;
  attention.heads = attention.kv_heads = 1;
  attention.head_width = kWidth;
  attention.scale = 0.5f;
  attention.cross = true;
  b.op("attend", attributes(attention), {x, states[0], states[1]}, {b.output("y", 0, kWidth)});
  return b;
}

const OpEdit kCrossEdits[] = {
    {"attention of a source to itself as to another",
     [](auto& m) {
       fb::OpT& attend = *m.subgraphs[0]->ops.back();
       fb::OpT& see = *m.subgraphs[0]->ops[3];
       see.attributes = attend.attributes;
       see.inputs = {see.inputs[0], attend.inputs[1], attend.inputs[2]};
     },
     Status::kCorrupt, "attention to a source has a mask or a bias, or is in the source's own pass"},
};

TEST(HostileCarried, OfKeysAreRefusedWithAReason) { expect_refused(kCrossEdits, crossing_model); }

}  // namespace
}  // namespace bantam::testing::hostile_carried_test
