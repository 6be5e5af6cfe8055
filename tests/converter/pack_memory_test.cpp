// Memory of small models on small devices: the effect of int8 residuals, queries in tiles and small tiles; answers stay
// the same.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "bantam/session.h"
#include "converter/pack_graphs.h"
#include "graph/access.h"
#include "pack/build.h"

namespace bantam::convert {
namespace {

/// A classifier with two layers, width 128, two heads of 64, an inner layer of 512 and 512 positions.
fixture::Shape small_encoder() {
  fixture::Shape shape;
  shape.hidden = 128;
  shape.heads = 2;
  shape.inner = 512;
  shape.labels = 7;
  shape.positions = 512;
  return shape;
}

FileBytes build_int8(const fixture::Shape& shape, fb::DType residual, Plan plan = Plan::kByResidual) {
  TypeOptions types;
  types.residual = residual;
  types.plan = plan;
  return build(fixture::bert_graph(shape), types);
}

Model open(const FileBytes& bytes) {
  Model model;
  EXPECT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
  return model;
}

/// Returns all outputs, one after the other, for one sequence of `tokens` ids.
std::vector<float> run(const Model& model, uint32_t tokens, const SessionOptions& wanted) {
  SessionOptions options = wanted;
  options.max_tokens = tokens;
  const size_t size = arena_bytes(model, options);
  EXPECT_GT(size, 0u);
  std::vector<uint8_t> memory(size + 128, 0xA5);
  uint8_t* arena = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
  Session* session = nullptr;
  EXPECT_EQ(Session::create(model, options, arena, size, &session), Status::kOk);
  std::vector<int32_t> ids(tokens);
  for (uint32_t i = 0; i < tokens; ++i) ids[i] = static_cast<int32_t>((i * 37 + 5) % model.vocabulary());
  Batch batch;
  batch.ids = ids.data();
  batch.tokens = tokens;
  EXPECT_EQ(session->run(batch), Status::kOk);
  EXPECT_EQ(session->arena_high_water(), size);
  for (const uint8_t* after = arena + size; after < memory.data() + memory.size(); ++after) EXPECT_EQ(*after, 0xA5);
  std::vector<float> values;
  for (uint32_t i = 0; i < model.output_count(); ++i) {
    OutputView view;
    EXPECT_EQ(session->output(i, &view), Status::kOk);
    for (uint32_t r = 0; r < view.rows; ++r) {
      values.insert(values.end(), view.data + r * view.stride, view.data + r * view.stride + view.width);
    }
  }
  return values;
}

TEST(Memory, AnArenaOfTwoLayersOf128) {
  const FileBytes bytes = build_int8(small_encoder(), fb::DType::i8);
  const Model model = open(bytes);
  SessionOptions options;
  options.tile_rows = 4;
  options.block_rows = 1;
  // The device's memory besides the arena: 2 KB of stack, and 0.75 KB of line, data and bss.
  constexpr size_t kRest = 2816;
  const struct {
    uint32_t tokens;
    size_t bytes;
  } aims[] = {{64, 34 * 1024}, {128, 62 * 1024}, {512, 215 * 1024}};
  for (const auto& aim : aims) {
    options.max_tokens = aim.tokens;
    EXPECT_LE(arena_bytes(model, options) + kRest, aim.bytes) << aim.tokens << " tokens";
  }
}

TEST(Memory, AnswersDependOnNeitherTilesNorBlocksNorInstructionSet) {
  fixture::Shape shape = small_encoder();
  shape.tags = 72;
  for (const fb::DType residual : {fb::DType::f32, fb::DType::i8}) {
    const FileBytes bytes = build_int8(shape, residual);
    const Model model = open(bytes);
    for (const uint32_t tokens : {1u, 19u, 64u}) {
      const std::vector<float> expected = run(model, tokens, {});
      for (const uint32_t tile : {4u, 12u, 32u}) {
        for (const uint32_t block : {1u, 4u}) {
          for (const Isa isa : {Isa::kReference, Isa::kAuto}) {
            SessionOptions options;
            options.tile_rows = tile;
            options.block_rows = block;
            options.isa = isa;
            const std::vector<float> got = run(model, tokens, options);
            ASSERT_EQ(got.size(), expected.size());
            EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)), 0)
                << tokens << " tokens, tile " << tile << ", block " << block;
          }
        }
      }
    }
  }
}

TEST(Memory, ThePlanChangesMemoryAndNoBit) {
  fixture::Shape shape = small_encoder();
  for (const uint32_t tags : {5u, 72u}) {  // f32 weights, int8 weights
    shape.tags = tags;
    for (const fb::DType residual : {fb::DType::f32, fb::DType::i8}) {
      const FileBytes fast = build_int8(shape, residual, Plan::kFast);
      const FileBytes small = build_int8(shape, residual, Plan::kSmall);
      for (const bool f32_attention : {false, true}) {
        SessionOptions options;
        options.f32_attention = f32_attention;
        EXPECT_EQ(run(open(fast), 50, options), run(open(small), 50, options)) << tags << " tags";
        options.max_tokens = 512;
        EXPECT_LT(arena_bytes(open(small), options), arena_bytes(open(fast), options));
      }
    }
  }
}

TEST(Memory, AnInt8ResidualIsCloseToF32) {
  fixture::Shape shape = small_encoder();
  shape.tags = 72;
  const FileBytes f32 = build_int8(shape, fb::DType::f32);
  const FileBytes i8 = build_int8(shape, fb::DType::i8);
  const std::vector<float> expected = run(open(f32), 48, {});
  const std::vector<float> got = run(open(i8), 48, {});
  ASSERT_EQ(got.size(), expected.size());
  double error = 0;
  double size = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    error += (got[i] - expected[i]) * (got[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  EXPECT_GT(error, 0);
  EXPECT_LT(std::sqrt(error / size), 0.1);
  SessionOptions options;
  options.max_tokens = 128;
  EXPECT_LT(arena_bytes(open(i8), options) + 128 * 500, arena_bytes(open(f32), options));
}

TEST(Memory, QueriesLiveInATileAndKeysOfAllLayersInOnePlace) {
  TypeOptions types;
  types.residual = fb::DType::i8;
  const Built built = build_model(fixture::bert_graph(small_encoder()), types);
  std::vector<uint32_t> key_places;
  for (const auto& tensor : built.graph.model.tensors) {
    if (tensor->layout == fb::Layout::key_pages) key_places.push_back(tensor->offset[1]);
    if (tensor->region == fb::Region::tile || tensor->role == fb::Role::constant) continue;
    EXPECT_NE(tensor->layout, fb::Layout::head_rows) << tensor->name;
    EXPECT_TRUE(tensor->type == fb::DType::i8 || tensor->role == fb::Role::output) << tensor->name;
  }
  ASSERT_EQ(key_places.size(), 2u);
  EXPECT_EQ(key_places[0], key_places[1]);
}

}  // namespace
}  // namespace bantam::convert
