// hostile_test.cpp for passes over sources: the states that they leave, the readers of these, and the tasks of such
// models.
#include <gtest/gtest.h>

#include "model/shortlist.h"
#include "tests/model/hostile.h"

namespace bantam::testing::hostile_sources_test {
namespace {

constexpr auto kCorrupt = Status::kCorrupt;
constexpr uint32_t kIds = 9, kWidth = 6;

void add_input(ModelBuilder& b, fb::InputKind kind, uint32_t limit) {
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs.back()->name = fb::EnumNameInputKind(kind);
  b.model.inputs.back()->kind = kind;
  b.model.inputs.back()->limit = limit;
}

int32_t embed(ModelBuilder& b, const char* name, int32_t rows) {
  const int32_t words = b.table(name, kIds, kWidth, std::vector<float>(kIds * kWidth), WeightType::kF32);
  fb::EmbedT one;
  one.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& op = b.op(name, attributes(one), {}, {rows});
  op.attributes.AsEmbed()->tables[0]->tensor = name_input(op, words);
  return rows;
}

/// Gives both passes a plan that is large enough for all tensors together.
void share_plans(ModelBuilder& b) {
  b.model.source_shared_bytes = b.model.shared_bytes;
  b.model.source_tile_bytes = b.model.tile_bytes;
}

fb::TensorT& tensor_of(fb::ModelT& m, const std::string& name) {
  for (auto& t : m.tensors) {
    if (t->name == name) return *t;
  }
  throw std::runtime_error("no tensor " + name);
}
int32_t number_of(fb::ModelT& m, const std::string& name) {
  int32_t number = 0;
  while (m.tensors[static_cast<size_t>(number)].get() != &tensor_of(m, name)) ++number;
  return number;
}

/// Adds a state of f32 rows of tokens.
int32_t add_state(ModelBuilder& b, const char* name) {
  const int32_t state = b.activation(name, 0, kWidth);
  b.model.tensors.back()->role = fb::Role::state;
  b.model.tensors.back()->offset.clear();
  return state;
}

/// An encoder-decoder: a source leaves its embeddings, from which the next words are computed.
ModelBuilder source_model() {
  ModelBuilder b;
  add_input(b, fb::InputKind::ids, kIds);
  add_input(b, fb::InputKind::source_ids, kIds);
  add_input(b, fb::InputKind::marks, 3);
  b.step(0);
  b.model.subgraphs[0]->steps.back()->phase = fb::Phase::source;
  const int32_t x = embed(b, "source", b.activation("x", 0, kWidth));
  const int32_t state = add_state(b, "state");
  fb::SliceT all;
  all.width = kWidth;
  b.op("leave", attributes(all), {x}, {state});
  b.step(0);
  const int32_t q = embed(b, "words", b.activation("q", 0, kWidth));
  b.op("align", attributes(fb::AlignT()), {q, state, state}, {b.output("y", 0, kWidth)});
  b.model.outputs[0]->role = fb::OutputRole::next_words;
  b.model.task = std::make_unique<fb::TaskT>();
  b.model.task->kind = fb::TaskKind::generate;
  b.model.task->generations.push_back(std::make_unique<fb::GenerationT>());
  b.model.task->generations[0]->start_id = 0;
  share_plans(b);
  return b;
}

/// Texts are retrieved for chunks but not used.
ModelBuilder chunk_model() {
  ModelBuilder b;
  add_input(b, fb::InputKind::ids, kIds);
  add_input(b, fb::InputKind::segments, 2);
  add_input(b, fb::InputKind::features, 4);
  add_input(b, fb::InputKind::source_ids, kIds);
  b.step(0);
  b.model.subgraphs[0]->steps.back()->phase = fb::Phase::source;
  embed(b, "source", b.activation("x", 0, kWidth));
  b.step(0);
  embed(b, "words", b.output("y", 0, kWidth));
  b.model.chunk = 4;
  share_plans(b);
  return b;
}

TEST(HostileSources, OfChunksAreRefusedByTheirSentences) {
  expect_rules(
      {
          {"the model has no main pass", kCorrupt,
           [](auto& m) {
             m.subgraphs[0]->steps[1]->phase = fb::Phase::source;
             m.outputs[0]->phase = fb::Phase::source;
           }},
          {"what is retrieved for chunks lacks its ids, its segments or the chunk's rows", kCorrupt,
           [](auto& m) {
             m.inputs.pop_back();
             m.subgraphs[0]->steps[0]->phase = fb::Phase::main;
           }},
          {"a chunk is too long, or leaves no room for what is retrieved for it", kCorrupt,
           [](auto& m) { m.chunk = (1u << 16) + 1; }},
          {"what is retrieved for chunks leaves rows", kCorrupt,
           [](auto& m) {
             m.tensors.push_back(std::make_unique<fb::TensorT>(tensor_of(m, "x")));
             m.tensors.back()->role = fb::Role::state;
             m.tensors.back()->offset.clear();
           }},
          {"an output's pass is none of the model's, or a task reads one of the source's pass", kCorrupt,
           [](auto& m) {
             tensor_of(m, "x").role = fb::Role::output;
             m.outputs.push_back(std::make_unique<fb::OutputT>());
             m.outputs[1]->tensor = number_of(m, "x");
             m.outputs[1]->phase = fb::Phase::source;
             m.outputs[1]->role = fb::OutputRole::labels;
           }},
      },
      chunk_model);
}

TEST(HostileSources, AreRefusedByTheirSentences) {
  expect_rules({{"too many languages", Status::kUnsupported,
                 [](auto& m) {
                   m.task->language_place = fb::LanguagePlace::first;
                   for (int i = 0; i < 1025; ++i) m.task->languages.push_back(std::make_unique<fb::LanguageT>());
                 }}},
               source_model);
  const char* const rows = "rows of a source are not states of its tokens";
  expect_rules_of_op("align",
                     {{rows, kCorrupt,
                       [](auto& m) {
                         tensor_of(m, "state").layout = fb::Layout::key_pages;
                         tensor_of(m, "state").heads = 1;
                       }},
                      {rows, kCorrupt, [](auto& m) { tensor_of(m, "state").shape[0] = fb::Dim(1, 1, 0, 1); }},
                      {rows, kCorrupt, [](auto& m) { tensor_of(m, "state").role = fb::Role::activation; }}},
                     source_model);
}

/// Lists that claim to have 2^32 bytes; nothing may read them.
TEST(HostileSources, ListsOfAShortlistAreNotTooLong) {
  if (sizeof(size_t) < 8) GTEST_SKIP() << "no data section is as long";
  ModelBuilder b = source_model();
  b.model.task->shortlist = std::make_unique<fb::ShortlistT>();
  fb::ShortlistT& shortlist = *b.model.task->shortlist;
  shortlist.words = kWidth;
  shortlist.first = shortlist.source_words = 1;
  const auto verdict_with = [&](uint64_t bytes) {
    const uint32_t begins[4] = {};
    const uint64_t size = 2 * sizeof(uint32_t) + bytes;
    shortlist.lists = std::make_unique<fb::Blob>(0, size, 0, 0);
    flatbuffers::FlatBufferBuilder builder;
    fb::FinishModelBuffer(builder, fb::Model::Pack(builder, &b.model));
    return check_shortlist(*fb::GetModel(builder.GetBufferPointer()), reinterpret_cast<const uint8_t*>(begins),
                           static_cast<size_t>(size));
  };
  EXPECT_STREQ(verdict_with(0).what(), "");
  EXPECT_EQ(verdict_with(uint64_t{1} << 32).status(), kCorrupt);
  EXPECT_STREQ(verdict_with(uint64_t{1} << 32).what(),
               "the lists of a shortlist lie outside the data section, or are too few");
}

/// Rows of static quantization have no scales after them, which pooling would read.
TEST(HostileSources, PoolingReadsNoFixedRows) {
  expect_rules_of_op("pool",
                     {{"pooling reads shared f32 or i8 rows of tokens", kCorrupt,
                       [](auto& m) { tensor_of(m, "q").scale_kind = fb::ScaleKind::fixed; }}},
                     [] {
                       ModelBuilder b = source_model();
                       b.step(1);
                       b.op("pool", attributes(fb::PoolT()), {number_of(b.model, "q")},
                            {b.activation("pooled", 1, kWidth)});
                       tensor_of(b.model, "q").type = fb::DType::i8;
                       tensor_of(b.model, "q").scale_kind = fb::ScaleKind::per_row;
                       return b;
                     });
}

}  // namespace
}  // namespace bantam::testing::hostile_sources_test
