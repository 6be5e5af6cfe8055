// hostile_test.cpp for attention with lists of keys: global tokens, blocks, random blocks.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/model/hostile.h"
#include "tests/session/bert.h"

namespace bantam::testing::hostile_key_lists_test {
namespace {

BertShape shape_with_globals() {
  BertShape shape;
  shape.mask = fb::MaskKind::globals;
  shape.window = 5;
  shape.dilation = 2;
  shape.globals = fb::GlobalTokens::before;
  shape.separator = 3;
  return shape;
}

BertShape shape_with_blocks() {
  BertShape shape;
  shape.mask = fb::MaskKind::blocks;
  shape.block = 8;
  shape.full_until = 20;
  shape.random = 2;
  return shape;
}

fb::OpT& op(fb::ModelT& m, const std::string& name) {
  for (const auto& o : m.subgraphs[0]->ops) {
    if (o->name == name) return *o;
  }
  throw std::runtime_error("no op " + name);
}

fb::AttentionT& attention(fb::ModelT& m) { return *op(m, "layer.0.attention").attributes.AsAttention(); }
fb::LinearT& linear(fb::ModelT& m, const char* name) { return *op(m, name).attributes.AsLinear(); }
fb::TensorT& random_blocks(fb::ModelT& m) {
  const fb::OpT& of = op(m, "layer.0.attention");
  return *m.tensors[static_cast<size_t>(of.inputs[static_cast<size_t>(attention(m).random_blocks)])];
}

const OpEdit kOfGlobals[] = {
    {"tokens that nothing says are global", [](auto& m) { m.globals.reset(); }},
    {"global tokens of no kind", [](auto& m) { m.globals->kind = static_cast<fb::GlobalTokens>(77); },
     Status::kUnsupported},
    {"no separator", [](auto& m) { m.globals->separator = -1; }},
    {"a separator beyond the vocabulary", [](auto& m) { m.globals->separator = 211; }},
    {"no separator in front of the second text",
     [](auto& m) {
       m.globals->kind = fb::GlobalTokens::behind;
       m.globals->separator = 1 << 30;
     }},
    {"marks of a model that takes none", [](auto& m) { m.globals->kind = fb::GlobalTokens::marked; }},
    {"a window of no tokens", [](auto& m) { attention(m).window = 0; }},
    {"a window of no steps", [](auto& m) { attention(m).dilation = 0; }},
    {"steps of a window without globals", [](auto& m) { attention(m).mask = fb::MaskKind::window; }},
    {"steps of queries that see all", [](auto& m) { attention(m).mask = fb::MaskKind::of_globals; }},
    {"a cap", [](auto& m) { attention(m).soft_cap = 5; }},
    {"an attention to a source", [](auto& m) { attention(m).cross = true; }},
    {"blocks", [](auto& m) { attention(m).block = 4; }},
    {"texts that see all without blocks", [](auto& m) { attention(m).full_until = 4; }},
    {"random blocks without blocks", [](auto& m) { attention(m).random = 1; }},
    {"a layer of global tokens with an activation", [](auto& m) { linear(m, "layer.0.up").only_globals = true; }},
    {"a layer of global tokens over texts", [](auto& m) { linear(m, "classify").only_globals = true; }},
    {"a copy of rows of global tokens as i8",
     [](auto& m) {
       op(m, "layer.0.out").epilogue.reset();
       op(m, "layer.0.out").inputs.resize(3);
       op(m, "layer.0.out").outputs = {op(m, "layer.0.out").outputs[0],
                                       add_like(m, op(m, "layer.0.out").outputs[0], as_i8)};
       linear(m, "layer.0.out").only_globals = true;
     },
     Status::kCorrupt, "a layer of global tokens alone has no epilogue, and leaves f32 rows"},
    {"a mask beyond all", [](auto& m) { attention(m).mask = static_cast<fb::MaskKind>(13); }, Status::kUnsupported},
};

const OpEdit kOfBlocks[] = {
    {"blocks of no tokens", [](auto& m) { attention(m).block = 0; }},
    {"smaller blocks, and more", [](auto& m) { attention(m).block = 4; }},
    {"larger blocks, and less", [](auto& m) { attention(m).block = 0xFFFFFFFFu; }},
    {"texts of any length", [](auto& m) { m.max_sequence = 0; }},
    {"sixteen random blocks", [](auto& m) { attention(m).random = 16; }, Status::kUnsupported},
    {"random blocks for more than there are", [](auto& m) { attention(m).random = 3; }},
    {"a list of no random blocks", [](auto& m) { attention(m).random = 0; }},
    {"random blocks without a list", [](auto& m) { attention(m).random_blocks = -1; }},
    {"a list beyond the inputs", [](auto& m) { attention(m).random_blocks = 9; }},
    {"a list where the keys are", [](auto& m) { attention(m).random_blocks = 1; }},
    {"a list as f32", [](auto& m) { random_blocks(m).type = fb::DType::f32; }},
    {"a list of less blocks", [](auto& m) { random_blocks(m).shape[0] = fb::Dim(-1, 0, 23, 1); }},
    {"a list that is a matrix",
     [](auto& m) {
       random_blocks(m).shape = {fb::Dim(-1, 0, 12, 1), fb::Dim(-1, 0, 2, 1)};
     }},
    {"a list that is an activation",
     [](auto& m) {
       fb::OpT& a = op(m, "layer.0.attention");
       a.inputs[static_cast<size_t>(attention(m).random_blocks)] = a.inputs[0];
     }},
    {"a window with gaps", [](auto& m) { attention(m).dilation = 2; }},
    {"a cap", [](auto& m) { attention(m).soft_cap = 5; }},
    {"a layer of tokens that nothing says are global", [](auto& m) { linear(m, "layer.0.qkv").only_globals = true; }},
    {"blocks in a mask without them", [](auto& m) { attention(m).mask = fb::MaskKind::none; }},
};

fb::OpT& attention_op(ModelBuilder& b) { return op(b.model, "layer.0.attention"); }

/// Removes the list from the inputs.
void leave_out_list(ModelBuilder& b) {
  auto& inputs = attention_op(b).inputs;
  inputs.erase(inputs.begin() + attention(b.model).random_blocks);
  attention(b.model).random_blocks = -1;
}

/// Returns a model with tables of ids only, so that nothing else limits the length of texts.
ModelBuilder model_without_places() {
  BertShape shape = shape_with_blocks();
  shape.positions = shape.vocabulary;
  ModelBuilder b = build(random_bert(shape, 2), WeightType::kF32);
  for (auto& table : op(b.model, "embed").attributes.AsEmbed()->tables) {
    if (table->source == fb::IndexSource::positions) table->source = fb::IndexSource::ids;
  }
  return b;
}

TEST(HostileKeyLists, BlocksFitTheirList) {
  expect_sentences(
      {
          {"blocks of no tokens, or in texts of any length",
           [](auto& b) {
             attention(b.model).random = 0;
             leave_out_list(b);
             b.model.max_sequence = 0;
           }},
          {"random blocks and their list do not belong together", leave_out_list},
          // The list would have 2^32 + 4 numbers, which is 4 in 32 bits.
          {"lists of too many random blocks",
           [](auto& b) {
             b.model.max_sequence = 858993460;
             attention(b.model).block = attention(b.model).random = 1;
             random_blocks(b.model).shape[0] = fb::Dim(-1, 0, 4, 1);
           },
           Status::kUnsupported},
          {"blocks of tokens in attention whose mask has none",
           [](auto& b) {
             fb::AttentionT& a = attention(b.model);
             a.mask = fb::MaskKind::none;
             a.block = a.full_until = a.random = 0;
           }},
      },
      model_without_places);
}

TEST(HostileKeyLists, GoWithNoBias) {
  for (const BertShape& plain : {shape_with_globals(), shape_with_blocks()}) {
    BertShape shape = plain;
    shape.slopes = true;
    const BertShape with_slopes = shape;
    shape = plain;
    shape.placed = 9;
    const BertShape with_places = shape;
    shape = plain;
    shape.segment_keys = true;
    BertShape with_sinks = plain;
    with_sinks.sinks = true;
    for (const BertShape& biased : {with_slopes, with_places, shape, with_sinks}) {
      Fault fault;
      EXPECT_EQ(open(build(random_bert(biased, 2), WeightType::kF32), &fault), Status::kCorrupt);
      EXPECT_STREQ(fault.what,
                   "attention to global tokens or to blocks goes with no bias and no cap, and blocks with no source");
    }
  }
}

TEST(HostileKeyLists, AreRefusedWithAReason) {
  for (const WeightType type : {WeightType::kI8, WeightType::kF32}) {
    expect_refused(kOfGlobals, [type] { return build(random_bert(shape_with_globals(), 2), type); });
    expect_refused(kOfBlocks, [type] { return build(random_bert(shape_with_blocks(), 2), type); });
  }
}

}  // namespace
}  // namespace bantam::testing::hostile_key_lists_test
