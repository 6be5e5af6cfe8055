// Files that are structurally valid but have invalid content: each edit violates one rule of the verifier.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bantam/model.h"
#include "format/header.h"
#include "tests/session/bert.h"

namespace bantam::testing::hostile_test {
namespace {

struct Edit {
  const char* name;
  Status expected;
  std::function<void(fb::ModelT&)> apply;
};

fb::TensorT& named(fb::ModelT& m, const std::string& name) {
  for (const auto& t : m.tensors) {
    if (t->name == name) return *t;
  }
  throw std::runtime_error("no tensor " + name);
}

void make_int4(fb::TensorT& t, uint32_t group) {
  t.type = fb::DType::i4;
  t.layout = fb::Layout::tile_i4_k8n16;
  t.scale_kind = fb::ScaleKind::per_group;
  t.group = group;
}

void make_ternary(fb::TensorT& t) {
  t.type = fb::DType::ternary;
  t.layout = fb::Layout::tile_ternary_k16n16;
}

int32_t index_of(const fb::ModelT& m, const std::string& name) {
  for (size_t i = 0; i < m.tensors.size(); ++i) {
    if (m.tensors[i]->name == name) return static_cast<int32_t>(i);
  }
  throw std::runtime_error("no tensor " + name);
}

fb::OpT& op(fb::ModelT& m, const std::string& name) {
  for (const auto& o : m.subgraphs[0]->ops) {
    if (o->name == name) return *o;
  }
  throw std::runtime_error("no op " + name);
}

fb::Dim fixed(int32_t n) { return fb::Dim(-1, 0, n, 1); }

void move_to(std::unique_ptr<fb::Blob>& blob, uint64_t offset) { *blob = fb::Blob(offset, blob->size(), 0, 0); }
void resize(std::unique_ptr<fb::Blob>& blob, uint64_t size) { *blob = fb::Blob(blob->offset(), size, 0, 0); }

template <typename T>
T value(int64_t v) {
  return static_cast<T>(v);
}

int32_t& residual(fb::OpT& op) { return op.inputs[static_cast<size_t>(op.epilogue->residual)]; }
int32_t& gamma(fb::OpT& op) { return op.inputs[static_cast<size_t>(op.epilogue->gamma)]; }
int32_t& table(fb::ModelT& m, size_t i) {
  fb::OpT& embed = op(m, "embed");
  return embed.inputs[static_cast<size_t>(embed.attributes.AsEmbed()->tables[i]->tensor)];
}
void name_smooth(fb::OpT& op, int32_t tensor) { op.epilogue->smooth = name_input(op, tensor); }
void name_gate(fb::OpT& op, int32_t tensor) { op.epilogue->gate = name_input(op, tensor); }

/// Sets the parents of labels; labels without a given parent have none.
void put_parents(fb::ModelT& m, std::vector<int32_t> parents) {
  parents.resize(m.task->label_sets[0]->labels.size(), -1);
  m.task->label_sets[0]->parents = std::move(parents);
}

std::vector<Edit> model_edits() {
  const auto corrupt = Status::kCorrupt;
  const auto unsupported = Status::kUnsupported;
  return {
      {"two subgraphs", unsupported, [](auto& m) { m.subgraphs.push_back(std::make_unique<fb::SubgraphT>()); }},
      {"no subgraph", unsupported, [](auto& m) { m.subgraphs.clear(); }},
      {"no ops", corrupt, [](auto& m) { m.subgraphs[0]->ops.clear(); }},
      {"no outputs", corrupt, [](auto& m) { m.outputs.clear(); }},
      {"no inputs", unsupported, [](auto& m) { m.inputs.clear(); }},
      {"two symbols", corrupt, [](auto& m) { m.symbols.pop_back(); }},
      {"symbols of one role", corrupt, [](auto& m) { m.symbols[1]->role = fb::SymbolRole::tokens; }},
      {"symbols out of order", corrupt, [](auto& m) { std::swap(m.symbols[0], m.symbols[1]); }},
      {"symbol of a later version", unsupported, [](auto& m) { m.symbols[2]->role = value<fb::SymbolRole>(5); }},
      {"four symbols", unsupported, [](auto& m) { m.symbols.push_back(std::make_unique<fb::SymbolT>(*m.symbols[2])); }},
      {"multiple of 8", corrupt, [](auto& m) { m.symbols[0]->multiple = 8; }},
      {"multiple of 0", corrupt, [](auto& m) { m.symbols[2]->multiple = 0; }},
      {"huge multiple", corrupt, [](auto& m) { m.symbols[1]->multiple = 0x80000000u; }},
      {"input of a later version", unsupported, [](auto& m) { m.inputs[1]->kind = value<fb::InputKind>(40); }},
      {"output of a later version", unsupported, [](auto& m) { m.outputs[0]->role = value<fb::OutputRole>(40); }},
      {"two inputs of ids", unsupported, [](auto& m) { m.inputs[1]->kind = fb::InputKind::ids; }},
      {"limit of 0", corrupt, [](auto& m) { m.inputs[0]->limit = 0; }},
      {"limit beyond int32", corrupt, [](auto& m) { m.inputs[0]->limit = 0x80000000u; }},
      {"limit beyond the table", corrupt, [](auto& m) { m.inputs[0]->limit = 212; }},
      {"segments beyond the table", corrupt, [](auto& m) { m.inputs[1]->limit = 3; }},
      {"sequence beyond the positions", corrupt, [](auto& m) { m.max_sequence = 97; }},
      {"positions without a limit", corrupt, [](auto& m) { m.max_sequence = 0; }},
      {"output of no tensor", corrupt, [](auto& m) { m.outputs[0]->tensor = -1; }},
      {"output beyond the tensors", corrupt, [](auto& m) { m.outputs[0]->tensor = 100000; }},
      {"output of an activation", corrupt, [](auto& m) { m.outputs[0]->tensor = index_of(m, "x"); }},
      {"label set of no output", corrupt, [](auto& m) { m.task->label_sets[0]->output = 2; }},
      {"too many labels", corrupt, [](auto& m) { m.task->label_sets[0]->labels.push_back("more"); }},
      {"a system that stands nowhere known", corrupt,
       [](auto& m) {
         m.task->chat = std::make_unique<fb::ChatT>();
         m.task->chat->system_place = value<fb::SystemPlace>(77);
       }},
      {"unknown task", corrupt, [](auto& m) { m.task->kind = value<fb::TaskKind>(99); }},
      {"words labelled by sequences", corrupt, [](auto& m) { m.task->kind = fb::TaskKind::tag; }},
      {"slots of sequences", corrupt,
       [](auto& m) {
         m.task->kind = fb::TaskKind::joint;
         m.task->label_sets.push_back(std::make_unique<fb::LabelSetT>(*m.task->label_sets[0]));
       }},
      {"texts labelled by tokens", corrupt,
       [](auto& m) {
         m.task->label_sets[0]->labels.clear();
         m.task->label_sets[0]->output = 1;
       }},
      {"answers of sequences", corrupt,
       [](auto& m) {
         m.task->kind = fb::TaskKind::answer;
         m.outputs[0]->role = fb::OutputRole::begin;
       }},
      {"answers of several columns", corrupt,
       [](auto& m) {
         m.task->kind = fb::TaskKind::answer;
         m.outputs[1]->role = fb::OutputRole::end;
       }},
      {"masks filled by sequences", corrupt,
       [](auto& m) {
         m.task->kind = fb::TaskKind::fill;
         m.outputs[0]->role = fb::OutputRole::words;
       }},
      {"choices of tokens", corrupt,
       [](auto& m) {
         m.task->kind = fb::TaskKind::choose;
         m.outputs[1]->role = fb::OutputRole::choice;
       }},
      {"embeddings of tokens", corrupt,
       [](auto& m) {
         m.task->kind = fb::TaskKind::embed;
         m.outputs[1]->role = fb::OutputRole::embedding;
       }},
      {"a further label set of tokens", corrupt,
       [](auto& m) {
         m.task->label_sets.push_back(std::make_unique<fb::LabelSetT>());
         m.task->label_sets[1]->output = 1;
       }},
      {"parents of fewer labels", corrupt, [](auto& m) { m.task->label_sets[0]->parents = {-1}; }},
      {"a label under itself", corrupt, [](auto& m) { put_parents(m, {0}); }},
      {"labels under each other", corrupt,
       [](auto& m) {
         put_parents(m, {1, 0});
       }},
      {"a label under one beyond the last", corrupt,
       [](auto& m) { put_parents(m, {static_cast<int32_t>(m.task->label_sets[0]->labels.size())}); }},
      {"a label under -2", corrupt, [](auto& m) { put_parents(m, {-2}); }},
      {"values of a regression under each other", corrupt,
       [](auto& m) {
         m.task->kind = fb::TaskKind::regress;
         put_parents(m, {-1, 0});
       }},
      {"unknown aggregation", corrupt, [](auto& m) { m.task->label_sets[0]->aggregation = value<fb::Aggregation>(6); }},
      {"unknown scheme", corrupt, [](auto& m) { m.task->label_sets[0]->scheme = value<fb::TagScheme>(9); }},
      {"temperature 0", corrupt, [](auto& m) { m.task->label_sets[0]->temperature = 0; }},
      {"threshold NaN", corrupt,
       [](auto& m) { m.task->label_sets[0]->threshold = std::numeric_limits<float>::quiet_NaN(); }},
      {"steps leave a gap", corrupt, [](auto& m) { m.subgraphs[0]->steps[1]->first_op += 1; }},
      {"steps end early", corrupt, [](auto& m) { m.subgraphs[0]->steps.back()->op_count -= 1; }},
      {"steps end late", corrupt, [](auto& m) { m.subgraphs[0]->steps.back()->op_count = 0xFFFFFFFFu; }},
      {"empty step", corrupt, [](auto& m) { m.subgraphs[0]->steps[0]->op_count = 0; }},
      {"step over tiles", corrupt, [](auto& m) { m.subgraphs[0]->steps[0]->rows = 2; }},
      {"step over nothing", corrupt, [](auto& m) { m.subgraphs[0]->steps[0]->rows = -1; }},
      {"tokens step over sequences", corrupt, [](auto& m) { m.subgraphs[0]->steps[1]->rows = 1; }},
  };
}

std::vector<Edit> tensor_edits() {
  const auto corrupt = Status::kCorrupt;
  const auto unsupported = Status::kUnsupported;
  const std::string w = "layer.0.qkv";
  return {
      {"unknown type", corrupt, [](auto& m) { named(m, "x").type = value<fb::DType>(77); }},
      {"unknown role", corrupt, [](auto& m) { named(m, "x").role = value<fb::Role>(77); }},
      {"unknown region", corrupt, [](auto& m) { named(m, "x").region = value<fb::Region>(7); }},
      {"unknown scale", corrupt, [](auto& m) { named(m, "x").scale_kind = value<fb::ScaleKind>(77); }},
      {"int8 tile as sparse blocks", corrupt, [w](auto& m) { named(m, w).layout = fb::Layout::sparse_1x4; }},
      {"int8 tile as a bitmask", corrupt, [w](auto& m) { named(m, w).layout = fb::Layout::bitmask_k4n16; }},
      {"unknown layout", unsupported, [w](auto& m) { named(m, w).layout = value<fb::Layout>(77); }},
      {"no shape", corrupt, [](auto& m) { named(m, "x").shape.clear(); }},
      {"rank 7", corrupt, [w](auto& m) { named(m, w).shape.assign(7, fixed(1)); }},
      {"unknown symbol", corrupt, [](auto& m) { named(m, "x").shape[0] = fb::Dim(3, 1, 0, 1); }},
      {"symbol -2", corrupt, [](auto& m) { named(m, "x").shape[0] = fb::Dim(-2, 1, 0, 1); }},
      {"divisor 0", unsupported, [](auto& m) { named(m, "x").shape[0] = fb::Dim(0, 1, 0, 0); }},
      {"half the rows", unsupported, [](auto& m) { named(m, "x").shape[0] = fb::Dim(0, 1, 0, 2); }},
      {"twice the rows", unsupported, [](auto& m) { named(m, "x").shape[0] = fb::Dim(0, 2, 0, 1); }},
      {"negative width", corrupt, [](auto& m) { named(m, "x").shape[1] = fixed(-40); }},
      {"width 0", corrupt, [](auto& m) { named(m, "x").shape[1] = fixed(0); }},
      {"enormous width", unsupported, [](auto& m) { named(m, "x").shape[1] = fixed(0x7FFFFFFF); }},
      {"width that changes", unsupported, [](auto& m) { named(m, "x").shape[1] = fb::Dim(0, 1, 0, 1); }},
      {"fixed rows", unsupported, [](auto& m) { named(m, "x").shape[0] = fixed(16); }},
      {"rank 1 activation", unsupported, [](auto& m) { named(m, "x").shape.pop_back(); }},
      {"tile rows in shared", corrupt, [](auto& m) { named(m, "x").shape[0] = fb::Dim(2, 1, 0, 1); }},
      {"tokens in tile", corrupt, [](auto& m) { named(m, "qkv").shape[0] = fb::Dim(0, 1, 0, 1); }},
      {"sequences for tokens", corrupt, [](auto& m) { named(m, "x").shape[0] = fb::Dim(1, 1, 0, 1); }},
      {"f16 activation", unsupported, [](auto& m) { named(m, "x").type = fb::DType::f16; }},
      {"weights' layout", corrupt, [](auto& m) { named(m, "x").layout = fb::Layout::tile_n16; }},
      {"i8 rows without scales", corrupt, [](auto& m) { named(m, "x.i8").scale_kind = fb::ScaleKind::none; }},
      {"f32 rows with scales", corrupt, [](auto& m) { named(m, "x").scale_kind = fb::ScaleKind::per_row; }},
      {"f32 head rows", corrupt, [](auto& m) { named(m, "q").type = fb::DType::f32; }},
      {"no heads", corrupt, [](auto& m) { named(m, "q").heads = 0; }},
      {"heads that do not divide", corrupt, [](auto& m) { named(m, "k0").heads = 7; }},
      {"wrong heads", corrupt, [](auto& m) { named(m, "v0").heads = 10; }},
      {"alias of nothing", corrupt, [](auto& m) { named(m, "x").alias = 5000; }},
      {"misaligned place", corrupt, [](auto& m) { named(m, "x").offset[0] = 32; }},
      {"misaligned coefficient", corrupt, [](auto& m) { named(m, "x").offset[1] += 2; }},
      {"place outside", corrupt, [](auto& m) { named(m, "q").offset[0] = 64; }},
      {"huge place", corrupt, [](auto& m) { named(m, "q").offset[1] = 0xFFFFFFC0u; }},
      {"region too small", corrupt, [](auto& m) { m.shared_bytes[1] -= 64; }},
      {"tile region too small", corrupt, [](auto& m) { m.tile_bytes[3] -= 4; }},
      {"no region", corrupt, [](auto& m) { m.shared_bytes.clear(); }},
      {"five coefficients", corrupt, [](auto& m) { named(m, "x").offset.assign(5, 0); }},
      {"place by tile in shared", corrupt,
       [](auto& m) {
         m.shared_bytes[3] = 64;
         named(m, "x").offset[3] = 64;
       }},
      {"place by tokens in tile", corrupt,
       [](auto& m) {
         m.tile_bytes[1] = 64;
         named(m, "qkv").offset[1] = 64;
       }},
      {"constant of symbol size", corrupt, [w](auto& m) { named(m, w).shape[0] = fb::Dim(0, 1, 0, 1); }},
      {"constant with pages", corrupt, [w](auto& m) { named(m, w).layout = fb::Layout::key_pages; }},
      {"rank 3 weights", corrupt, [w](auto& m) { named(m, w).shape.push_back(fixed(1)); }},
      {"i4 constant", corrupt, [](auto& m) { named(m, "norm").type = fb::DType::i4; }},
      {"int8 tile of u8", corrupt, [w](auto& m) { named(m, w).type = fb::DType::u8; }},
      {"int8 tile without scales", corrupt, [w](auto& m) { named(m, w).scale_kind = fb::ScaleKind::none; }},
      {"grouped scales", corrupt, [](auto& m) { named(m, "words").scale_kind = fb::ScaleKind::per_group; }},
      {"table without scales", corrupt, [](auto& m) { named(m, "words").scale_kind = fb::ScaleKind::none; }},
      {"bf16 tile", corrupt, [](auto& m) { named(m, "tag").type = fb::DType::bf16; }},
      {"shape product overflows", corrupt,
       [w](auto& m) {
         named(m, w).shape = {fixed(0x7FFFFFFF), fixed(0x7FFFFFFF)};
       }},
      {"shape product overflows 64 bits", corrupt,
       [](auto& m) { named(m, "norm").shape.assign(6, fixed(0x7FFFFFFF)); }},
      {"weights beyond their data", corrupt, [w](auto& m) { named(m, w).shape[0] = fixed(129); }},
      {"no data", corrupt, [w](auto& m) { named(m, w).data.reset(); }},
      {"no sums", corrupt, [w](auto& m) { named(m, w).sums.reset(); }},
      {"no scales", corrupt, [w](auto& m) { named(m, w).scales.reset(); }},
      {"int4 in tiles of int8", corrupt, [w](auto& m) { named(m, w).type = fb::DType::i4; }},
      {"int8 in tiles of int4", corrupt, [w](auto& m) { named(m, w).layout = fb::Layout::tile_i4_k8n16; }},
      {"rows that fit words", corrupt, [](auto& m) { named(m, "words").fits_words = true; }},
      {"factors for int8", corrupt, [w](auto& m) { named(m, w).scale_kind = fb::ScaleKind::per_group; }},
      {"int4 without groups", corrupt, [w](auto& m) { make_int4(named(m, w), 0); }},
      {"int4 in groups of 12", corrupt, [w](auto& m) { make_int4(named(m, w), 12); }},
      {"int4 without factors", corrupt, [w](auto& m) { make_int4(named(m, w), 32); }},
      {"int4 in a group whose end does not fit 32 bits", corrupt,
       [w](auto& m) {
         make_int4(named(m, w), 0xFFFFFFF8);
         resize(named(m, w).scales, 2 * named(m, w).scales->size());
       }},
      {"ternary in tiles of int8", corrupt, [w](auto& m) { named(m, w).type = fb::DType::ternary; }},
      {"int8 in tiles of ternary", corrupt, [w](auto& m) { named(m, w).layout = fb::Layout::tile_ternary_k16n16; }},
      {"ternary norm", corrupt, [](auto& m) { named(m, "norm").type = fb::DType::ternary; }},
      {"factors for ternary", corrupt,
       [w](auto& m) {
         make_ternary(named(m, w));
         named(m, w).scale_kind = fb::ScaleKind::per_group;
       }},
      {"ternary with fixed scales", corrupt,
       [w](auto& m) {
         make_ternary(named(m, w));
         named(m, w).scale_kind = fb::ScaleKind::fixed;
       }},
      {"ternary that fits words", corrupt,
       [w](auto& m) {
         make_ternary(named(m, w));
         named(m, w).fits_words = true;
       }},
      {"ternary whose product overflows", corrupt,
       [w](auto& m) {
         make_ternary(named(m, w));
         named(m, w).shape = {fixed(0x7FFFFFFF), fixed(0x7FFFFFFF)};
       }},
      {"ternary of too little data", corrupt,
       [w](auto& m) {
         make_ternary(named(m, w));
         named(m, w).shape[1] = fixed(513);
       }},
      {"misaligned data", corrupt, [w](auto& m) { move_to(named(m, w).data, named(m, w).data->offset() + 4); }},
      {"data far away", corrupt, [w](auto& m) { move_to(named(m, w).data, uint64_t{1} << 40); }},
      {"data wraps", corrupt, [w](auto& m) { move_to(named(m, w).data, ~uint64_t{63}); }},
      {"data size wraps", corrupt, [w](auto& m) { resize(named(m, w).data, ~uint64_t{0}); }},
      {"data too small", corrupt, [w](auto& m) { resize(named(m, w).data, 64); }},
      {"scales too small", corrupt, [w](auto& m) { resize(named(m, w).scales, 60); }},
      {"sums outside", corrupt, [w](auto& m) { move_to(named(m, w).sums, uint64_t{1} << 63); }},
      {"scales that nobody needs outside", corrupt,
       [](auto& m) { named(m, "norm").scales = std::make_unique<fb::Blob>(uint64_t{1} << 40, 64, 0, 0); }},
      {"another segment", unsupported, [w](auto& m) { *named(m, w).data = fb::Blob(0, 1 << 20, 1, 0); }},
  };
}

std::vector<Edit> op_edits() {
  const auto corrupt = Status::kCorrupt;
  const auto unsupported = Status::kUnsupported;
  return {
      {"op version", unsupported, [](auto& m) { op(m, "tag").version = 3; }},
      {"op feature", unsupported, [](auto& m) { op(m, "tag").features = {"time travel"}; }},
      {"fallback of a known operator", unsupported,
       [](auto& m) {
         fb::OpT& linear = op(m, "layer.0.up");  // input and output of equal width, as a copy requires
         linear.inputs[0] = linear.outputs[1];
         linear.features = {"time travel"};
         linear.fallback = true;
       }},
      {"operand beyond", corrupt, [](auto& m) { op(m, "tag").inputs[0] = 4000; }},
      {"operand below", corrupt, [](auto& m) { op(m, "tag").inputs[2] = -2; }},
      {"output beyond", corrupt, [](auto& m) { op(m, "tag").outputs[0] = 4000; }},
      {"field names an input beyond", corrupt, [](auto& m) { op(m, "layer.0.out").epilogue->residual = 6; }},
      {"field names an input below", corrupt, [](auto& m) { op(m, "embed").epilogue->gamma = -2; }},
      {"field names the far end", corrupt, [](auto& m) { op(m, "embed").epilogue->beta = 127; }},
      {"field names an input of the operator's own", corrupt,
       [](auto& m) {
         op(m, "layer.0.out").epilogue->residual = 0;
         op(m, "layer.0.out").inputs.pop_back();
         op(m, "layer.0.out").epilogue->gamma = 3;
         op(m, "layer.0.out").epilogue->beta = 4;
       }},
      {"two fields name one input", corrupt,
       [](auto& m) {
         op(m, "embed").inputs.pop_back();
         op(m, "embed").epilogue->beta = op(m, "embed").epilogue->gamma;
       }},
      {"an input that no field names", corrupt, [](auto& m) { op(m, "embed").epilogue->beta = -1; }},
      {"a field names an absent tensor", corrupt, [](auto& m) { op(m, "embed").inputs.back() = -1; }},
      {"table beyond", corrupt, [](auto& m) { op(m, "embed").attributes.AsEmbed()->tables[0]->tensor = 23; }},
      {"integers of a dynamic op", corrupt, [](auto& m) { op(m, "tag").integer = std::make_unique<fb::IntegerT>(); }},
      {"static without integers", corrupt, [](auto& m) { op(m, "tag").numerics = fb::Numerics::static_int; }},
      {"unknown numerics", unsupported, [](auto& m) { op(m, "tag").numerics = value<fb::Numerics>(2); }},
      {"no weights", corrupt, [](auto& m) { op(m, "tag").inputs[1] = -1; }},
      {"no input", corrupt, [](auto& m) { op(m, "tag").inputs[0] = -1; }},
      {"25 inputs", unsupported, [](auto& m) { op(m, "tag").inputs.resize(25, -1); }},
      {"nine outputs", unsupported, [](auto& m) { op(m, "tag").outputs.resize(9, -1); }},
      {"too few inputs", corrupt, [](auto& m) { op(m, "tag").inputs.resize(1); }},
      {"too many inputs", corrupt, [](auto& m) { op(m, "tag").inputs.resize(4, -1); }},
      {"no outputs", corrupt, [](auto& m) { op(m, "tag").outputs.clear(); }},
      {"all outputs absent", corrupt,
       [](auto& m) {
         op(m, "layer.0.up").outputs = {-1, -1};
       }},
      {"constant as input", corrupt, [](auto& m) { op(m, "tag").inputs[0] = index_of(m, "norm"); }},
      {"constant as output", corrupt, [](auto& m) { op(m, "tag").outputs[0] = index_of(m, "norm"); }},
      {"activation as weights", corrupt, [](auto& m) { op(m, "tag").inputs[1] = index_of(m, "x"); }},
      {"activation as bias", corrupt, [](auto& m) { op(m, "tag").inputs[2] = index_of(m, "x"); }},
      {"bias too short", corrupt, [](auto& m) { op(m, "tag").inputs[2] = index_of(m, "classify.bias"); }},
      {"smooth too short", corrupt, [](auto& m) { name_smooth(op(m, "embed"), index_of(m, "tag.bias")); }},
      {"smooth is an activation", corrupt, [](auto& m) { name_smooth(op(m, "embed"), index_of(m, "x")); }},
      {"gamma too short", corrupt, [](auto& m) { gamma(op(m, "embed")) = index_of(m, "tag.bias"); }},
      {"float input for int8 weights", corrupt, [](auto& m) { op(m, "layer.0.qkv").inputs[0] = index_of(m, "x"); }},
      {"int8 input for float weights", corrupt, [](auto& m) { op(m, "tag").inputs[0] = index_of(m, "x.i8"); }},
      {"input too narrow", corrupt, [](auto& m) { op(m, "layer.0.up").inputs[0] = index_of(m, "ffn"); }},
      {"output too wide", corrupt, [](auto& m) { op(m, "layer.0.up").outputs[1] = index_of(m, "x.i8"); }},
      {"i8 output as f32", corrupt,
       [](auto& m) {
         op(m, "layer.0.up").outputs = {index_of(m, "ffn"), -1};
       }},
      {"an op reads its output", corrupt,
       [](auto& m) { op(m, "layer.0.up").outputs[1] = op(m, "layer.0.up").inputs[0]; }},
      {"residual of another width", corrupt, [](auto& m) { residual(op(m, "layer.0.out")) = index_of(m, "qkv"); }},
      {"residual in place as i8", corrupt, [](auto& m) { residual(op(m, "layer.0.out")) = index_of(m, "x.i8"); }},
      {"residual is constant", corrupt, [](auto& m) { residual(op(m, "layer.0.out")) = index_of(m, "words"); }},
      {"residual with heads", corrupt, [](auto& m) { residual(op(m, "layer.0.out")) = index_of(m, "q"); }},
      {"unknown activation", corrupt,
       [](auto& m) { op(m, "layer.0.up").epilogue->activation = value<fb::ActivationKind>(40); }},
      {"unknown norm", corrupt, [](auto& m) { op(m, "embed").epilogue->norm = value<fb::NormKind>(40); }},
      {"epsilon NaN", corrupt,
       [](auto& m) { op(m, "embed").epilogue->epsilon = std::numeric_limits<float>::quiet_NaN(); }},
      {"epsilon below 0", corrupt, [](auto& m) { op(m, "embed").epilogue->epsilon = -1; }},
      {"no tables", corrupt, [](auto& m) { op(m, "embed").attributes.AsEmbed()->tables.clear(); }},
      {"nine tables", unsupported,
       [](auto& m) {
         auto& tables = op(m, "embed").attributes.AsEmbed()->tables;
         while (tables.size() < 9) {
           tables.push_back(std::make_unique<fb::EmbedTableT>(*tables[0]));
           tables.back()->tensor = name_input(op(m, "embed"), index_of(m, "words"));
         }
       }},
      {"table of another width", corrupt, [](auto& m) { table(m, 1) = index_of(m, "layer.0.down"); }},
      {"vector as table", corrupt, [](auto& m) { table(m, 0) = index_of(m, "norm"); }},
      {"absent table", corrupt,
       [](auto& m) { op(m, "embed").attributes.AsEmbed()->tables.push_back(std::make_unique<fb::EmbedTableT>()); }},
      {"gate of another width", corrupt, [](auto& m) { name_gate(op(m, "layer.0.up"), index_of(m, "qkv")); }},
      {"gate of i8", corrupt, [](auto& m) { name_gate(op(m, "layer.0.out"), index_of(m, "x.i8")); }},
      {"gate that is constant", corrupt, [](auto& m) { name_gate(op(m, "layer.0.out"), index_of(m, "words")); }},
      {"gate that is the output", corrupt, [](auto& m) { name_gate(op(m, "layer.0.out"), index_of(m, "x")); }},
      {"sum stored without a norm", corrupt, [](auto& m) { op(m, "layer.0.up").epilogue->store_sum = true; }},
      {"sum stored alone", corrupt,
       [](auto& m) {
         op(m, "layer.0.out").epilogue->store_sum = true;
         op(m, "layer.0.out").outputs[1] = -1;
       }},
      {"index beyond by offset", corrupt, [](auto& m) { op(m, "embed").attributes.AsEmbed()->tables[2]->offset = 1; }},
      {"offset below 0", corrupt, [](auto& m) { op(m, "embed").attributes.AsEmbed()->tables[2]->offset = -1; }},
      {"offset wraps", corrupt, [](auto& m) { op(m, "embed").attributes.AsEmbed()->tables[0]->offset = 0x7FFFFFFF; }},
      {"index source of a later version", unsupported,
       [](auto& m) { op(m, "embed").attributes.AsEmbed()->tables[1]->source = value<fb::IndexSource>(9); }},
      {"neighbours without a row behind those of ids", corrupt,
       [](auto& m) { op(m, "embed").attributes.AsEmbed()->tables[0]->source = fb::IndexSource::next; }},
      {"scale infinite", corrupt,
       [](auto& m) { op(m, "embed").attributes.AsEmbed()->tables[1]->scale = std::numeric_limits<float>::infinity(); }},
      {"no heads in split", corrupt, [](auto& m) { op(m, "layer.0.split").attributes.AsSplitHeads()->heads = 0; }},
      {"no key heads in split", corrupt,
       [](auto& m) { op(m, "layer.0.split").attributes.AsSplitHeads()->kv_heads = 0; }},
      {"heads times width wraps", unsupported,
       [](auto& m) {
         auto& split = *op(m, "layer.0.split").attributes.AsSplitHeads();
         split.heads = split.kv_heads = 0x80000000u;
         split.head_width = 0x80000000u;
       }},
      {"other heads in split", corrupt, [](auto& m) { op(m, "layer.0.split").attributes.AsSplitHeads()->heads = 4; }},
      {"split with an epilogue", corrupt,
       [](auto& m) {
         op(m, "layer.0.split").epilogue = std::make_unique<fb::EpilogueT>();
         op(m, "layer.0.split").epilogue->activation = fb::ActivationKind::relu;
       }},
      {"keys and values swapped", corrupt,
       [](auto& m) { std::swap(op(m, "layer.0.split").outputs[1], op(m, "layer.0.split").outputs[2]); }},
      {"queries in a tile with keys that are not", corrupt,
       [](auto& m) {
         fb::TensorT& q = named(m, "q");
         q.region = fb::Region::tile;
         q.shape[0] = fb::Dim(2, 1, 0, 1);
         q.offset = {0, 0, 0, m.tile_bytes[3]};
         m.tile_bytes[3] += 256;
       }},
      {"keys in a tile", corrupt,
       [](auto& m) {
         fb::TensorT& k = named(m, "k0");
         k.region = fb::Region::tile;
         k.shape[0] = fb::Dim(2, 1, 0, 1);
         k.offset = {0, 0, 0, m.tile_bytes[3]};
         m.tile_bytes[3] += 256;
       }},
      {"queries absent", corrupt, [](auto& m) { op(m, "layer.0.attention").inputs[0] = -1; }},
      {"keys as queries", corrupt, [](auto& m) { op(m, "layer.0.attention").inputs[0] = index_of(m, "k0"); }},
      {"rows as keys", corrupt, [](auto& m) { op(m, "layer.0.attention").inputs[1] = index_of(m, "x"); }},
      {"heads not a multiple", corrupt,
       [](auto& m) { op(m, "layer.0.attention").attributes.AsAttention()->kv_heads = 2; }},
      {"scale 0", corrupt, [](auto& m) { op(m, "layer.0.attention").attributes.AsAttention()->scale = 0; }},
      {"scale NaN", corrupt,
       [](auto& m) {
         op(m, "layer.0.attention").attributes.AsAttention()->scale = std::numeric_limits<float>::quiet_NaN();
       }},
      {"unknown mask", unsupported,
       [](auto& m) { op(m, "layer.0.attention").attributes.AsAttention()->mask = value<fb::MaskKind>(200); }},
      {"unknown pooling", corrupt, [](auto& m) { op(m, "first").attributes.AsPool()->kind = value<fb::PoolKind>(50); }},
      {"more parts than are pooled", corrupt,
       [](auto& m) { op(m, "first").attributes.AsPool()->skip_last.assign(16, 0); }},
      {"columns that are not a multiple of the parts", corrupt,
       [](auto& m) { op(m, "first").attributes.AsPool()->skip_last.assign(7, 0); }},
      {"the length of parts", corrupt,
       [](auto& m) {
         op(m, "first").attributes.AsPool()->skip_last.assign(2, 0);
         op(m, "first").attributes.AsPool()->l2 = true;
       }},
      {"pooling of tile rows", corrupt, [](auto& m) { op(m, "first").inputs[0] = index_of(m, "qkv"); }},
      {"pooling of i8", corrupt, [](auto& m) { op(m, "first").inputs[0] = index_of(m, "q"); }},
  };
}

std::vector<Edit> plan_edits() {
  const auto corrupt = Status::kCorrupt;
  return {
      {"x and q overlap", corrupt, [](auto& m) { named(m, "q").offset = named(m, "x").offset; }},
      {"keys overlap values", corrupt, [](auto& m) { named(m, "v0").offset = named(m, "k0").offset; }},
      {"an output overlaps x", corrupt, [](auto& m) { named(m, "tags").offset = named(m, "x").offset; }},
      {"overlap in one coefficient", corrupt,
       [](auto& m) {
         // Ends before the other tensor begins, but only for some lengths.
         m.shared_bytes[2] += 1 << 20;
         named(m, "q").offset = {0, 0, 1 << 20, 0};
       }},
      {"tile rows overlap", corrupt, [](auto& m) { named(m, "ffn").offset = named(m, "x.i8").offset; }},
      {"scratch over a tensor in use", corrupt, [](auto& m) { op(m, "layer.0.down").scratch.assign(4, 0); }},
      {"scratch beyond the region", corrupt,
       [](auto& m) {
         op(m, "layer.0.down").scratch = m.tile_bytes;
         op(m, "layer.0.down").scratch[3] += 64;
       }},
      {"scratch by tokens", corrupt,
       [](auto& m) {
         m.tile_bytes[1] = 64;
         op(m, "layer.0.down").scratch = m.tile_bytes;
       }},
      {"scratch of five coefficients", corrupt, [](auto& m) { op(m, "embed").scratch.assign(5, 0); }},
      {"read before written", corrupt, [](auto& m) { op(m, "layer.0.attention").inputs[1] = index_of(m, "k1"); }},
      {"tile rows read in another step", corrupt,
       [](auto& m) { op(m, "layer.1.up").inputs[0] = op(m, "pool").inputs[0]; }},
      {"keys written while others read them", corrupt,
       [](auto& m) {
         op(m, "layer.1.split").outputs[1] = index_of(m, "k0");
         op(m, "layer.1.attention").inputs[1] = index_of(m, "k0");
       }},
      {"an output nobody writes", corrupt,
       [](auto& m) {
         m.tensors.push_back(std::make_unique<fb::TensorT>(named(m, "tags")));
         m.tensors.back()->name = "nobody";
         m.outputs[0]->tensor = static_cast<int32_t>(m.tensors.size()) - 1;
       }},
      {"a tensor written twice by one op", corrupt,
       [](auto& m) {
         // Two outputs of the same type, which only heads may have.
         op(m, "layer.0.split").outputs[2] = op(m, "layer.0.split").outputs[1];
       }},
  };
}

class Hostile : public ::testing::TestWithParam<Edit> {};

TEST_P(Hostile, IsRefusedWithAReason) {
  ModelBuilder builder = build(random_bert({}, 2), WeightType::kI8);
  GetParam().apply(builder.model);
  const FileBytes file(builder.finish());
  Model model;
  Fault fault;
  EXPECT_EQ(Model::open(file.data(), file.size(), &model, &fault), GetParam().expected) << fault.what;
  EXPECT_STRNE(fault.what, "");
  EXPECT_FALSE(model.is_open());
}

std::string name_of(const ::testing::TestParamInfo<Edit>& info) {
  std::string name = info.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Model, Hostile, ::testing::ValuesIn(model_edits()), name_of);
INSTANTIATE_TEST_SUITE_P(Tensor, Hostile, ::testing::ValuesIn(tensor_edits()), name_of);
INSTANTIATE_TEST_SUITE_P(Op, Hostile, ::testing::ValuesIn(op_edits()), name_of);
INSTANTIATE_TEST_SUITE_P(Plan, Hostile, ::testing::ValuesIn(plan_edits()), name_of);

/// Items that the schema marks "not executed yet" are refused as unsupported: each has a case above.
TEST(Schema, WhatIsNotExecutedYetIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"Not executed yet: a dimension", "half the rows"},
      {"Not executed yet: other segments", "another segment"},
      {"Not executed yet: more than one", "two subgraphs"},
  };
  std::ifstream stream(BANTAM_SCHEMA);
  const std::string schema((std::istreambuf_iterator<char>(stream)), {});
  size_t marks = 0;
  for (size_t at = schema.find("ot executed yet:"); at != std::string::npos;
       at = schema.find("ot executed yet:", at + 1)) {
    ++marks;
  }
  EXPECT_EQ(marks, std::size(cases));
  std::vector<Edit> edits = model_edits();
  for (Edit& edit : tensor_edits()) edits.push_back(std::move(edit));
  for (const auto& [mark, name] : cases) {
    EXPECT_NE(schema.find(mark), std::string::npos) << mark;
    const auto edit =
        std::find_if(edits.begin(), edits.end(), [name = name](const Edit& e) { return std::string(e.name) == name; });
    ASSERT_NE(edit, edits.end()) << name;
    EXPECT_EQ(edit->expected, Status::kUnsupported) << name;
  }
}

/// Fuzzing starts from valid files: a corpus of an older format would only test the first check.
TEST(Corpus, TheTinyFilesAreOfThisFormat) {
  for (const char* name : {"tiny-f32.bin", "tiny-f16.bin", "tiny-int8.bin"}) {
    std::ifstream stream(std::string(BANTAM_CORPUS) + name, std::ios::binary);
    const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(stream)), {});
    const FileBytes file(bytes);
    Model model;
    Fault fault;
    EXPECT_EQ(Model::open(file.data(), file.size(), &model, &fault), Status::kOk) << name << ": " << fault.what;
  }
}

TEST(Fault, NamesTheTensorOrTheOp) {
  ModelBuilder builder = build(random_bert({}, 2), WeightType::kI8);
  resize(named(builder.model, "layer.1.up").data, 1);
  FileBytes file(builder.finish());
  Model model;
  Fault fault;
  ASSERT_EQ(Model::open(file.data(), file.size(), &model, &fault), Status::kCorrupt);
  EXPECT_EQ(std::string(fault.name, fault.name_size), "layer.1.up");
  EXPECT_EQ(fault.index, static_cast<uint32_t>(index_of(builder.model, "layer.1.up")));
  builder = build(random_bert({}, 2), WeightType::kI8);
  op(builder.model, "classify").version = 9;
  file = FileBytes(builder.finish());
  ASSERT_EQ(Model::open(file.data(), file.size(), &model, &fault), Status::kUnsupported);
  EXPECT_EQ(std::string(fault.name, fault.name_size), "classify");
}

TEST(Fallback, AnUnknownOpThatMayBeLeftOutCopies) {
  ModelBuilder builder = build(random_bert({}, 2), WeightType::kF32);
  // An operator of a later version between the pooler and the classifier, whose fields name arbitrary inputs.
  const int32_t extra = builder.activation("extra", 2, 40);
  auto row = std::make_unique<fb::OpT>();
  row->name = "extra";
  row->fallback = true;
  row->attributes.Set(fb::RowT{});
  row->inputs = {op(builder.model, "classify").inputs[0], index_of(builder.model, "norm")};
  row->outputs = {extra};
  op(builder.model, "classify").inputs[0] = extra;
  auto& ops = builder.model.subgraphs[0]->ops;
  ops.insert(ops.end() - 1, std::move(row));
  builder.model.subgraphs[0]->steps.back()->op_count += 1;
  const auto opened = [&] {
    const FileBytes file(with_unknown_kind(builder.finish(), "extra"));
    Model model;
    Fault fault;
    return Model::open(file.data(), file.size(), &model, &fault);
  };
  EXPECT_EQ(opened(), Status::kOk);
  op(builder.model, "extra").fallback = false;
  EXPECT_EQ(opened(), Status::kUnsupported);
  op(builder.model, "extra").fallback = true;
  named(builder.model, "extra").shape[1] = fixed(39);  // a copy would have another width
  EXPECT_EQ(opened(), Status::kUnsupported);
}

TEST(Fallback, ACopyHasOneOutputThatIsLikeItsInput) {
  const char* const shape = "an unknown op whose output differs in shape cannot be left out";
  const std::tuple<const char*, const char*, std::function<void(fb::ModelT&)>> cases[] = {
      {"two outputs", "an unknown op with several outputs cannot be left out",
       [](auto& m) { op(m, "extra").outputs.push_back(index_of(m, "dense")); }},
      {"rows in pages", shape,
       [](auto& m) {
         named(m, "extra").layout = fb::Layout::key_pages;
         named(m, "extra").heads = 1;
       }},
      {"rows as i8", shape,
       [](auto& m) {
         named(m, "extra").type = fb::DType::i8;
         named(m, "extra").scale_kind = fb::ScaleKind::per_row;
       }},
      {"rows of another width", shape, [](auto& m) { named(m, "extra").shape[1] = fixed(4); }},
  };
  for (const auto& [name, sentence, apply] : cases) {
    ModelBuilder builder = build(random_bert({}, 2), WeightType::kF32);
    builder.step(1);
    const int32_t logits = index_of(builder.model, "logits"), copy = builder.activation("extra", 1, 3);
    builder.op("extra", attributes(fb::RowT{}), {logits}, {copy}).fallback = true;
    Fault fault;
    const auto opened = [&] {
      const FileBytes file(with_unknown_kind(builder.finish(), "extra"));
      Model model;
      return Model::open(file.data(), file.size(), &model, &fault);
    };
    ASSERT_EQ(opened(), Status::kOk) << fault.what;
    apply(builder.model);
    EXPECT_EQ(opened(), Status::kUnsupported) << name;
    EXPECT_STREQ(fault.what, sentence) << name;
  }
}

TEST(Fallback, AKnownOperatorIsNeverCopied) {
  // If it were copied, code that looks at its kind would treat it as a Row with an unchecked epilogue.
  ModelBuilder builder = build(random_bert({}, 2), WeightType::kF32);
  const int32_t extra = builder.activation("extra", 2, 40);
  auto row = std::make_unique<fb::OpT>();
  row->name = "extra";
  row->attributes.Set(fb::RowT{});
  row->inputs = {op(builder.model, "classify").inputs[0]};
  row->outputs = {extra};
  op(builder.model, "classify").inputs[0] = extra;
  auto& ops = builder.model.subgraphs[0]->ops;
  ops.insert(ops.end() - 1, std::move(row));
  builder.model.subgraphs[0]->steps.back()->op_count += 1;
  const auto opened = [&] {
    const FileBytes file(builder.finish());
    Model model;
    return Model::open(file.data(), file.size(), &model);
  };
  EXPECT_EQ(opened(), Status::kOk);
  op(builder.model, "extra").fallback = true;
  EXPECT_EQ(opened(), Status::kOk);
  op(builder.model, "extra").version = 3;
  EXPECT_EQ(opened(), Status::kUnsupported);
  op(builder.model, "extra").version = 1;
  op(builder.model, "extra").features = {"time travel"};
  EXPECT_EQ(opened(), Status::kUnsupported);
}

/// A chain of many row operators, each with its own tensor: the plan check handles many tensors in each walk over the
/// ops.
TEST(Plan, ThousandsOfOpsAreWithinTheBudget) {
  constexpr uint32_t kOps = 5000;
  ModelBuilder builder = build(random_bert({}, 2), WeightType::kF32);
  int32_t x = op(builder.model, "classify").inputs[0];
  std::vector<std::unique_ptr<fb::OpT>> chain;
  for (uint32_t i = 0; i < kOps; ++i) {
    auto row = std::make_unique<fb::OpT>();
    row->attributes.Set(fb::RowT{});
    row->inputs = {x};
    x = builder.activation("chain" + std::to_string(i), 2, 40);
    row->outputs = {x};
    chain.push_back(std::move(row));
  }
  op(builder.model, "classify").inputs[0] = x;
  auto& ops = builder.model.subgraphs[0]->ops;
  ops.insert(ops.end() - 1, std::make_move_iterator(chain.begin()), std::make_move_iterator(chain.end()));
  builder.model.subgraphs[0]->steps.back()->op_count += kOps;
  const FileBytes file(builder.finish());
  Model model;
  Fault fault;
  EXPECT_EQ(Model::open(file.data(), file.size(), &model, &fault), Status::kOk) << fault.what;
}

/// Returns a file in which one step copies an embedding `copies` times, by ops with the largest number of operands: to
/// `alive` tensors, and then repeatedly to the last one. `idle`: number of tensors that no op uses.
FileBytes file_of_copies(uint32_t copies, uint32_t alive, uint32_t idle) {
  constexpr uint32_t kIds = 3, kWidth = 2, kMostInputs = 24, kMostOutputs = 8;
  ModelBuilder b;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const int32_t words = b.table("words", kIds, kWidth, std::vector<float>(kIds * kWidth), WeightType::kF32);
  b.step(0);
  std::vector<int32_t> inputs(kMostInputs, -1), outputs(kMostOutputs, -1);
  inputs[0] = b.output("x", 0, kWidth);
  fb::EmbedT one;
  one.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& embed = b.op("embed", attributes(one), {}, {inputs[0]});
  embed.attributes.AsEmbed()->tables[0]->tensor = name_input(embed, words);
  for (uint32_t i = 0; i < copies; ++i) {
    if (i < alive) outputs[0] = b.activation("y", 0, kWidth);
    b.op("copy", attributes(fb::RowT{}), inputs, outputs).fallback = true;
  }
  for (uint32_t i = 0; i < idle; ++i) {
    b.model.tensors.push_back(std::make_unique<fb::TensorT>(*b.model.tensors[static_cast<size_t>(inputs[0])]));
    b.model.tensors.back()->role = fb::Role::activation;
  }
  std::vector<uint8_t> file = b.finish();
  for (const fb::Op* op : *fb::GetModel(file.data() + kHeaderBytes)->subgraphs()->Get(0)->ops()) {
    if (op->name()->str() != "copy") continue;
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(op);
    file[static_cast<size_t>(table->GetAddressOf(fb::Op::VT_ATTRIBUTES_TYPE) - file.data())] =
        static_cast<uint8_t>(fb::OpAttributes::MAX) + 1;
  }
  return FileBytes(file);
}

void expect_too_large(const FileBytes& file) {
  Model model;
  Fault fault;
  EXPECT_EQ(Model::open(file.data(), file.size(), &model, &fault), Status::kUnsupported);
  EXPECT_STREQ(fault.what, "the plan is too large to be verified");
}

/// 64 tensors per walk, 32 operands per op: either the walks over all ops exceed 2^25 operands, or the results of one
/// walk do.
TEST(Plan, TooManyWalksAreRefused) {
  constexpr uint32_t kCopies = 1100, kIdle = 65500;
  const FileBytes half = file_of_copies(kCopies, 1, kIdle / 2);
  Model model;
  Fault fault;
  EXPECT_EQ(Model::open(half.data(), half.size(), &model, &fault), Status::kOk) << fault.what;
  expect_too_large(file_of_copies(kCopies, 1, kIdle));
}

TEST(Plan, TooManyTensorsThatLiveLongAreRefused) {
  constexpr uint32_t kCopies = 18000, kAlive = 60;
  const FileBytes half = file_of_copies(kCopies, kAlive / 2, 0);
  Model model;
  Fault fault;
  EXPECT_EQ(Model::open(half.data(), half.size(), &model, &fault), Status::kOk) << fault.what;
  expect_too_large(file_of_copies(kCopies, kAlive, 0));
}

}  // namespace
}  // namespace bantam::testing::hostile_test
