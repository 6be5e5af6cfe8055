// The verifier's rules by their sentences: a file that violates one is refused with its sentence, whichever other rules
// it violates.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tests/model/hostile.h"
#include "tests/session/bert.h"

namespace bantam::testing::hostile_rules_test {
namespace {

constexpr auto kCorrupt = Status::kCorrupt;
constexpr auto kUnsupported = Status::kUnsupported;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename Named>
Named& by_name(std::vector<std::unique_ptr<Named>>& all, const std::string& name) {
  for (auto& one : all) {
    if (one->name == name) return *one;
  }
  throw std::runtime_error("nothing is called " + name);
}
fb::TensorT& tensor_of(fb::ModelT& m, const std::string& name) { return by_name(m.tensors, name); }
fb::OpT& op_of(fb::ModelT& m, const std::string& name) { return by_name(m.subgraphs[0]->ops, name); }
int32_t number_of(fb::ModelT& m, const std::string& name) {
  const fb::TensorT& wanted = tensor_of(m, name);
  int32_t number = 0;
  while (m.tensors[static_cast<size_t>(number)].get() != &wanted) ++number;
  return number;
}
template <typename T>
void repeat_first(std::vector<std::unique_ptr<T>>& list, size_t count) {
  while (list.size() < count) list.push_back(std::make_unique<T>(*list[0]));
}
fb::SplitHeadsT& split_of(fb::ModelT& m) { return *op_of(m, "layer.0.split").attributes.AsSplitHeads(); }
fb::LabelSetT& labels_of(fb::ModelT& m) { return *m.task->label_sets[0]; }
void put_in_tile(fb::TensorT& t) {
  t.region = fb::Region::tile;
  t.shape[0] = fb::Dim(2, 1, 0, 1);
  t.offset.clear();
}
fb::Dim dim(int32_t n) { return fb::Dim(-1, 0, n, 1); }

void expect_rules(const std::vector<Rule>& rules, WeightType type) {
  testing::expect_rules(rules, [type] { return build(random_bert({}, 2), type); });
}

TEST(HostileRules, OfModels) {
  expect_rules(
      {
          {"a symbol's multiple is not a multiple of 16 up to 4096", kCorrupt,
           [](auto& m) { m.symbols[0]->multiple = 24; }},
          {"an input's limit is zero or too large", kCorrupt, [](auto& m) { m.inputs[0]->limit = 0; }},
          {"an input's limit is zero or too large", kCorrupt, [](auto& m) { m.inputs[0]->limit = 0x80000000u; }},
          {"more than 65,536 tensors or ops", kUnsupported, [](auto& m) { repeat_first(m.tensors, 65537); }},
          {"more than 65,536 tensors or ops", kUnsupported, [](auto& m) { repeat_first(m.subgraphs[0]->ops, 65537); }},
          {"the graph has no ops", kCorrupt, [](auto& m) { m.subgraphs[0]->ops.clear(); }},
          {"too many inputs, outputs or tokenizers", kUnsupported, [](auto& m) { repeat_first(m.inputs, 17); }},
          {"too many inputs, outputs or tokenizers", kUnsupported, [](auto& m) { repeat_first(m.outputs, 257); }},
          {"too many inputs, outputs or tokenizers", kUnsupported,
           [](auto& m) {
             while (m.tokenizers.size() < 5) m.tokenizers.push_back(std::make_unique<fb::TokenizerT>());
           }},
          {"the steps do not cover the ops in order", kCorrupt,
           [](auto& m) { m.subgraphs[0]->steps.back()->op_count = 0xFFFFFFFFu; }},
          {"the steps do not cover the ops in order", kCorrupt,
           [](auto& m) { m.subgraphs[0]->steps.back()->op_count -= 1; }},
          {"a step runs over neither tokens nor sequences", kCorrupt,
           [](auto& m) { m.subgraphs[0]->steps[0]->rows = 2; }},
          {"passes of this kind are not executed", kUnsupported,
           [](auto& m) { m.subgraphs[0]->steps.back()->phase = static_cast<fb::Phase>(9); }},
          {"the steps' passes are not those of the inputs, or in no order", kCorrupt,
           [](auto& m) { m.subgraphs[0]->steps[0]->phase = fb::Phase::source; }},
          {"the source's tokenizer does not exist", kCorrupt,
           [](auto& m) {
             m.tokenizers.push_back(std::make_unique<fb::TokenizerT>());
             m.tokenizers.push_back(std::make_unique<fb::TokenizerT>());
             m.source_tokenizer = 1;
           }},
          {"what is retrieved for chunks lacks its ids, its segments or the chunk's rows", kCorrupt,
           [](auto& m) { m.chunk = 4; }},
          {"the op has the wrong number of outputs", kCorrupt, [](auto& m) { op_of(m, "first").outputs.clear(); }},
          {"the plan names unknown symbols", kCorrupt, [](auto& m) { m.tile_bytes.assign(5, 0); }},
          {"the plan names unknown symbols", kCorrupt, [](auto& m) { op_of(m, "embed").scratch.assign(5, 0); }},
      },
      WeightType::kI8);
}

TEST(HostileRules, OfTasks) {
  const char* const number = "a label set's threshold or temperature is not a number";
  const char* const rows = "an output is not shared f32 rows";
  const char* const above = "a label set has labels above others that are not one for each column of scores of texts";
  expect_rules(
      {
          {rows, kCorrupt,
           [](auto& m) { tensor_of(m, "qkv").role = fb::Role::output, m.outputs[0]->tensor = number_of(m, "qkv"); }},
          {rows, kCorrupt,
           [](auto& m) {
             tensor_of(m, "k0").role = fb::Role::output;
             m.outputs[0]->tensor = number_of(m, "k0");
           }},
          {number, kCorrupt, [](auto& m) { labels_of(m).temperature = kInfinity; }},
          {number, kCorrupt, [](auto& m) { labels_of(m).reject_below = kInfinity; }},
          {number, kCorrupt, [](auto& m) { labels_of(m).threshold = kInfinity; }},
          {above, kCorrupt,
           [](auto& m) {
             labels_of(m).output = 1;
             labels_of(m).labels.clear();
             labels_of(m).parents.assign(5, -1);
           }},
          {"a label stands under one that there is not, or under too many", kCorrupt,
           [](auto& m) {
             labels_of(m).parents.assign(3, -1);
             labels_of(m).parents[1] = 3;
           }},
          {"unknown place of languages", kCorrupt,
           [](auto& m) { m.task->language_place = static_cast<fb::LanguagePlace>(9); }},
          {"there are languages without a place, or a place without languages", kCorrupt,
           [](auto& m) { m.task->language_place = fb::LanguagePlace::source; }},
          {"languages without an encoder-decoder that generates", kCorrupt,
           [](auto& m) { m.task->languages.push_back(std::make_unique<fb::LanguageT>()); }},
          {"too many ways of generating", kUnsupported,
           [](auto& m) {
             while (m.task->generations.size() < 65) m.task->generations.push_back(std::make_unique<fb::GenerationT>());
           }},
          {"a setting of generating is out of range", kCorrupt,
           [](auto& m) {
             m.task->generations.push_back(std::make_unique<fb::GenerationT>());
             m.task->generations[0]->length_penalty = 2e3f;
           }},
          {"a setting of generating is out of range", kCorrupt,
           [](auto& m) {
             m.task->generations.push_back(std::make_unique<fb::GenerationT>());
             m.task->generations[0]->length_penalty = -2e3f;
           }},
          {"a setting of generating is out of range", kCorrupt,
           [](auto& m) {
             m.task->generations.push_back(std::make_unique<fb::GenerationT>());
             m.task->generations[0]->repetition_penalty = 2e6f;
           }},
          {"the no-answer threshold is not a number", kCorrupt,
           [](auto& m) { m.task->no_answer_threshold = kInfinity; }},
          {"too many label sets", kUnsupported, [](auto& m) { repeat_first(m.task->label_sets, 17); }},
      },
      WeightType::kI8);
}

TEST(HostileRules, OutputsAreNoPages) {
  expect_rules({{"an output is not shared f32 rows", kCorrupt,
                 [](auto& m) {
                   tensor_of(m, "k0").role = fb::Role::output;
                   m.outputs[0]->tensor = number_of(m, "k0");
                 }}},
               WeightType::kF32);
}

/// The file continues after the last label, and somewhere there it contains -1.
TEST(HostileRules, LabelsStandUnderThoseThatThereAre) {
  expect_rules({{"a label stands under one that there is not, or under too many", kCorrupt,
                 [](auto& m) {
                   labels_of(m).parents.assign(3, -1);
                   flatbuffers::FlatBufferBuilder builder;
                   fb::FinishModelBuffer(builder, fb::Model::Pack(builder, &m));
                   const uint8_t* end = builder.GetBufferPointer() + builder.GetSize();
                   const uint8_t* parents =
                       fb::GetModel(builder.GetBufferPointer())->task()->label_sets()->Get(0)->parents()->Data();
                   int32_t label = 3, word = 0;
                   for (const uint8_t* at = parents + 12; at + 4 <= end && word != -1; at += 4) {
                     std::memcpy(&word, at, 4);
                     if (word != -1) ++label;
                   }
                   ASSERT_EQ(word, -1);
                   labels_of(m).parents[1] = label;
                 }}},
               WeightType::kI8);
}

TEST(HostileRules, OfTensors) {
  const char* const kind = "a tensor's type, role, region or kind of scale is unknown";
  const char* const constant = "a constant dimension is not a positive number";
  expect_rules(
      {
          {kind, kCorrupt, [](auto& m) { tensor_of(m, "x").region = static_cast<fb::Region>(7); }},
          {kind, kCorrupt, [](auto& m) { tensor_of(m, "x").scale_kind = static_cast<fb::ScaleKind>(77); }},
          {kind, kCorrupt, [](auto& m) { tensor_of(m, "x").source_type = static_cast<fb::DType>(77); }},
          {"a tensor has no dimensions or too many", kCorrupt,
           [](auto& m) { tensor_of(m, "layer.0.qkv").shape.assign(7, dim(1)); }},
          {"a dimension's symbol is unknown", kCorrupt,
           [](auto& m) { tensor_of(m, "x").shape[0] = fb::Dim(3, 1, 0, 1); }},
          {constant, kCorrupt, [](auto& m) { tensor_of(m, "norm").shape[0] = fb::Dim(-1, 1, 40, 1); }},
          {constant, kCorrupt, [](auto& m) { tensor_of(m, "norm").shape[0] = fb::Dim(-1, 0, 40, 2); }},
          {"dimensions other than a symbol itself are not executed", kUnsupported,
           [](auto& m) { tensor_of(m, "x").shape[0] = fb::Dim(0, 1, 1, 1); }},
          {"a tensor's shape is too large", kCorrupt,
           [](auto& m) { tensor_of(m, "words").shape.assign(6, dim(0x7FFFFFFF)); }},
          {"a tensor's shape is too large", kCorrupt,
           [](auto& m) {
             fb::TensorT& t = tensor_of(m, "layer.0.qkv");
             t.type = fb::DType::i4;
             t.layout = fb::Layout::tile_i4_k8n16;
             t.scale_kind = fb::ScaleKind::per_group;
             t.group = 8;
             t.shape = {dim(0x7FFFFFFF), dim(0x7FFFFFFF)};
           }},
          {"constants with this kind of scale are not executed", kUnsupported,
           [](auto& m) { tensor_of(m, "words").scale_kind = fb::ScaleKind::per_row_head; }},
          {"a constant's shape depends on a symbol", kCorrupt,
           [](auto& m) { tensor_of(m, "words").shape[0] = fb::Dim(0, 1, 0, 1); }},
          {"int4 weights want tiles of their own and factors for groups of inputs", kCorrupt,
           [](auto& m) { tensor_of(m, "layer.0.qkv").type = fb::DType::i4; }},
          {"a group of inputs is not a multiple of 8, or of too many", kCorrupt,
           [](auto& m) {
             fb::TensorT& t = tensor_of(m, "layer.0.qkv");
             t.type = fb::DType::i4;
             t.layout = fb::Layout::tile_i4_k8n16;
             t.scale_kind = fb::ScaleKind::per_group;
             t.group = 12;
           }},
          {"weights that are not int8 are said to fit words", kCorrupt,
           [](auto& m) {
             fb::TensorT& t = tensor_of(m, "layer.0.qkv");
             t.type = fb::DType::i4;
             t.layout = fb::Layout::tile_i4_k8n16;
             t.scale_kind = fb::ScaleKind::per_group;
             t.group = 8;
             t.fits_words = true;
           }},
          {"ternary weights want tiles of their own", kCorrupt,
           [](auto& m) { tensor_of(m, "layer.0.qkv").type = fb::DType::ternary; }},
          {"tiled weights are not a matrix", kCorrupt,
           [](auto& m) { tensor_of(m, "layer.0.qkv").shape.assign(1, dim(120)); }},
          {"a constant has the layout of an activation", kCorrupt,
           [](auto& m) { tensor_of(m, "words").layout = fb::Layout::key_pages; }},
          {"a tensor's place in the arena is not 64-byte aligned", kCorrupt,
           [](auto& m) { tensor_of(m, "x").offset.assign(1, 4); }},
          {"an activation that is not rows of a fixed width", kUnsupported,
           [](auto& m) { tensor_of(m, "x").shape.push_back(dim(1)); }},
          {"tile rows belong in the tile region", kCorrupt,
           [](auto& m) { tensor_of(m, "qkv").region = fb::Region::shared; }},
          {"head rows are i8", kCorrupt, [](auto& m) { tensor_of(m, "q").type = fb::DType::f32; }},
          {"the width is not a multiple of the heads", kCorrupt, [](auto& m) { tensor_of(m, "k0").heads = 7; }},
          {"an activation has the layout of a weight", kCorrupt,
           [](auto& m) { tensor_of(m, "x").layout = fb::Layout::tile_n16; }},
          {"a tensor's place depends on another region's symbol", kCorrupt,
           [](auto& m) {
             tensor_of(m, "qkv").offset = {0, 64, 0, 0};
           }},
      },
      WeightType::kI8);
}

/// No output can be as wide as this layer, so other rules would refuse the file too.
TEST(HostileRules, LayersOfTooManyOutputs) {
  constexpr uint32_t kMostOutputs = 1u << 22;
  ModelBuilder builder = build(random_bert({}, 2), WeightType::kF32);
  const std::vector<uint8_t> zeros(2 * (kMostOutputs + 16));
  auto weights = std::make_unique<fb::TensorT>();
  weights->name = "wide";
  weights->type = fb::DType::f16;
  weights->layout = fb::Layout::tile_n16;
  weights->shape = {dim(kMostOutputs + 1), dim(1)};
  weights->data = std::make_unique<fb::Blob>(builder.store(zeros.data(), zeros.size()));
  builder.model.tensors.push_back(std::move(weights));
  op_of(builder.model, "tag").inputs[1] = number_of(builder.model, "wide");
  Fault fault;
  EXPECT_EQ(open(builder, &fault), kUnsupported);
  EXPECT_STREQ(fault.what, "a layer has too many outputs");
}

TEST(HostileRules, OfOperators) {
  const char* const sum = "an op that stores its rows before the norm wants a norm and both outputs";
  const char* const heads = "heads of no number or width";
  const char* const tiled = "keys and values are shared by all rows";
  const char* const pooled = "pooling reads shared f32 or i8 rows of tokens";
  expect_rules(
      {
          {"attention runs over tokens", kCorrupt, [](auto& m) { m.subgraphs[0]->steps[1]->rows = 1; }},
          {"attention's scale is not a positive number", kCorrupt,
           [](auto& m) { op_of(m, "layer.0.attention").attributes.AsAttention()->scale = 2e6f; }},
          {"an embedding's scale is not finite", kCorrupt,
           [](auto& m) { op_of(m, "embed").attributes.AsEmbed()->tables[1]->scale = -kInfinity; }},
          {"the norm's epsilon is not in [0, 1]", kCorrupt,
           [](auto& m) { op_of(m, "layer.0.out").epilogue->epsilon = 2; }},
          {"the op has no output", kCorrupt, [](auto& m) { op_of(m, "layer.0.out").outputs.assign(2, -1); }},
          {sum, kCorrupt, [](auto& m) { op_of(m, "layer.0.up").epilogue->store_sum = true; }},
          {sum, kCorrupt,
           [](auto& m) {
             op_of(m, "layer.0.out").epilogue->store_sum = true;
             op_of(m, "layer.0.out").outputs[1] = -1;
           }},
          {sum, kCorrupt,
           [](auto& m) {
             op_of(m, "layer.0.out").epilogue->store_sum = true;
             op_of(m, "layer.0.out").outputs[0] = -1;
           }},
          {heads, kCorrupt, [](auto& m) { split_of(m).heads = split_of(m).kv_heads = 0; }},
          {heads, kCorrupt, [](auto& m) { split_of(m).head_width = 0; }},
          // The product of these numbers is 2^64.
          {"attention is too wide", kUnsupported,
           [](auto& m) {
             split_of(m).heads = 0xFFFFFFFEu;
             split_of(m).kv_heads = split_of(m).head_width = 0x80000000u;
             split_of(m).kv_heads += 1;
           }},
          {tiled, kCorrupt, [](auto& m) { put_in_tile(tensor_of(m, "k0")); }},
          {tiled, kCorrupt, [](auto& m) { put_in_tile(tensor_of(m, "v0")); }},
          {"an embedding of positions needs a longest sequence", kCorrupt, [](auto& m) { m.max_sequence = 0; }},
          {"an embedding without tables", kCorrupt,
           [](auto& m) {
             op_of(m, "embed").attributes.AsEmbed()->tables.clear();
             op_of(m, "embed").inputs.clear();
             op_of(m, "embed").epilogue = nullptr;
           }},
          {"sums are of terms alone", kCorrupt,
           [](auto& m) { op_of(m, "layer.0.out").attributes.AsLinear()->sum_terms = true; }},
          {"the weights are not a constant matrix", kCorrupt,
           [](auto& m) { op_of(m, "layer.0.out").inputs[1] = number_of(m, "norm"); }},
          {"the weights are not a constant matrix", kCorrupt,
           [](auto& m) { op_of(m, "layer.0.out").inputs[1] = number_of(m, "x"); }},
          {"the weights are not laid out in tiles, or have no scales", kCorrupt,
           [](auto& m) { op_of(m, "layer.0.out").inputs[1] = number_of(m, "words"); }},
          {"an operand that changes with the input is a constant", kCorrupt,
           [](auto& m) { op_of(m, "layer.0.out").inputs[0] = number_of(m, "words"); }},
          {"the bias is not an f32 vector of the outputs' width", kCorrupt,
           [](auto& m) { op_of(m, "layer.0.out").inputs[2] = number_of(m, "x"); }},
          {"the bias is not an f32 vector of the outputs' width", kCorrupt,
           [](auto& m) { op_of(m, "layer.0.out").inputs[2] = number_of(m, "words"); }},
          {"the tensor's rows are not the step's rows", kCorrupt,
           [](auto& m) { op_of(m, "layer.0.out").outputs[0] = number_of(m, "logits"); }},
          {pooled, kCorrupt, [](auto& m) { op_of(m, "first").inputs[0] = number_of(m, "words"); }},
          {pooled, kCorrupt, [](auto& m) { op_of(m, "first").inputs[0] = number_of(m, "qkv"); }},
          {pooled, kCorrupt, [](auto& m) { op_of(m, "first").inputs[0] = number_of(m, "logits"); }},
          {"the columns that are pooled do not fall into these parts", kCorrupt,
           [](auto& m) { op_of(m, "first").attributes.AsPool()->skip_last.assign(40, 0); }},
      },
      WeightType::kI8);
}

}  // namespace
}  // namespace bantam::testing::hostile_rules_test
