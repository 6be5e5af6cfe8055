// Files with int8 weights in rows: the same weights, the same answers.
#include "pack/helium.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "bantam/model.h"
#include "bantam/session.h"
#include "calibrate/static_ranges.h"
#include "converter/pack_graphs.h"
#include "data/texts.h"
#include "format/view.h"
#include "pack/build.h"
#include "prune/prune.h"
#include "quantize/static.h"
#include "run/runner.h"

namespace bantam::convert {
namespace {

/// A small classifier with a tied output and widths that are not multiples of 16.
FileBytes small_file(fb::DType weights) {
  TypeOptions options;
  options.weights = weights;
  return build(fixture::bert_graph({2, 40, 5, 72, 211, 3, true}), options);
}

/// Returns every output of a run over some ids.
std::vector<float> outputs(const FileBytes& file) {
  Model model;
  EXPECT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  SessionOptions options;
  options.max_tokens = 16;
  options.max_sequences = 2;
  const size_t size = arena_bytes(model, options);
  std::unique_ptr<void, void (*)(void*)> arena(std::aligned_alloc(64, (size + 63) / 64 * 64), std::free);
  Session* session = nullptr;
  EXPECT_EQ(Session::create(model, options, arena.get(), size, &session), Status::kOk);
  const int32_t ids[] = {3, 200, 17, 5, 99, 210, 4, 8, 9, 1, 0};
  const uint32_t offsets[] = {0, 7, 11};
  Batch batch = {};
  batch.ids = ids;
  batch.offsets = offsets;
  batch.sequences = 2;
  batch.tokens = 11;
  EXPECT_EQ(session->run(batch), Status::kOk);
  std::vector<float> found;
  for (uint32_t i = 0; i < model.output_count(); ++i) {
    OutputView output;
    EXPECT_EQ(session->output(i, &output), Status::kOk);
    for (uint32_t r = 0; r < output.rows; ++r) {
      found.insert(found.end(), output.data + r * output.stride, output.data + r * output.stride + output.width);
    }
  }
  return found;
}

TEST(HeliumRows, HoldTheSameWeightsAndGiveTheSameBits) {
  const FileBytes tiles = small_file(fb::DType::i8);
  const FileBytes rows = with_helium_rows(tiles.data(), tiles.size()).bytes;
  Model before;
  Model after;
  ASSERT_EQ(Model::open(tiles.data(), tiles.size(), &before), Status::kOk);
  ASSERT_EQ(Model::open(rows.data(), rows.size(), &after), Status::kOk);
  uint32_t changed = 0;
  for (uint32_t i = 0; i < root(before).tensors()->size(); ++i) {
    const fb::Tensor& a = bantam::tensor(root(before), static_cast<int32_t>(i));
    const fb::Tensor& b = bantam::tensor(root(after), static_cast<int32_t>(i));
    if (a.layout() != fb::Layout::tile_k4n16) continue;
    ++changed;
    ASSERT_EQ(b.layout(), fb::Layout::k16n1) << a.name()->c_str();
    const uint32_t n = extent(a, 0);
    const uint32_t k = extent(a, 1);
    const size_t padded = kernels::pad16(k);
    const uint8_t* from = before.data() + a.data()->offset();
    const uint8_t* to = after.data() + b.data()->offset();
    ASSERT_GE(b.data()->size(), kernels::pad16(n) * padded);
    for (size_t o = 0; o < kernels::pad16(n); ++o) {
      for (size_t j = 0; j < padded; ++j) {
        const bool there = o < n && j < k;
        const uint8_t value = there ? from[(o / 16 * (kernels::pad4(k) / 4) + j / 4) * 64 + o % 16 * 4 + j % 4] : 0;
        ASSERT_EQ(to[o * padded + j], value) << a.name()->c_str() << " " << o << " " << j;
      }
    }
  }
  EXPECT_GT(changed, 8u);
  const std::vector<float> expected = outputs(tiles);
  const std::vector<float> found = outputs(rows);
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0);
}

TEST(HeliumRows, HoldWeightsOfTheIntegerOnlyForm) {
  const Graph graph = fixture::bert_graph({});
  const Graph unfused = unfuse(graph);
  const auto choose = [](Runner& runner) { return random_samples(runner.model().vocabulary(), 40); };
  const StaticRanges ranges = measure_static(unfused, {}, 40, choose, [](double) {});
  const FileBytes tiles = build_static(graph, ranges).bytes;
  const FileBytes rows = with_helium_rows(tiles.data(), tiles.size()).bytes;
  EXPECT_NE(rows, tiles);
  const std::vector<float> expected = outputs(tiles);
  const std::vector<float> found = outputs(rows);
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0);
}

/// A classifier of texts and words in which 85 % of the blocks of four are 0; only the layers' last parts have many
/// inputs.
FileBytes sparse_file(Sparse sparse, PrunePattern pattern = PrunePattern::k1x4) {
  Graph graph = fixture::bert_graph({2, 40, 5, 520, 211, 3, false, 64, 70});
  fixture::prune_most(graph, pattern);
  TypeOptions options;
  options.sparse = sparse;
  return build(graph, options);
}

uint32_t tensors(const FileBytes& file, fb::Layout layout) {
  Model model;
  EXPECT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  uint32_t count = 0;
  for (const fb::Tensor* t : *root(model).tensors()) count += t->layout() == layout ? 1u : 0u;
  return count;
}

HeliumFile with_rows(const FileBytes& file, HeliumOptions options = {}) {
  HeliumFile made = with_helium_rows(file.data(), file.size(), options);
  EXPECT_EQ(outputs(made.bytes), outputs(file));
  return made;
}

TEST(HeliumRows, HoldTheZerosOfSparseLayersWhereThatIsFaster) {
  const FileBytes file = sparse_file(Sparse::kAlways);
  const uint32_t all = tensors(file, fb::Layout::sparse_1x4);
  ASSERT_GE(all, 8u);
  // 520 inputs: break-even is at 0.75 of zeros with 4 tokens, and at 0.94 with 1; with 40 inputs there is none.
  const HeliumFile four = with_rows(file);
  EXPECT_EQ(four.sparse, 2u);
  EXPECT_EQ(four.expanded, all - 2);
  EXPECT_EQ(four.slower, 0u);
  EXPECT_EQ(tensors(four.bytes, fb::Layout::sparse_1x4), 2u);
  EXPECT_EQ(static_cast<int64_t>(four.bytes.size()) - static_cast<int64_t>(file.size()), four.expanded_bytes);
  const HeliumFile one = with_rows(file, {1});
  EXPECT_EQ(one.expanded, all);
  EXPECT_EQ(tensors(one.bytes, fb::Layout::sparse_1x4), 0u);
  EXPECT_EQ(one.bytes, with_rows(sparse_file(Sparse::kNever)).bytes);
}

TEST(HeliumRows, HoldTheZerosOfBitmasks) {
  const FileBytes file = sparse_file(Sparse::kSmallest, PrunePattern::kUnstructured);
  const uint32_t all = tensors(file, fb::Layout::bitmask_k4n16);
  ASSERT_GE(all, 8u);
  const HeliumFile made = with_rows(file);
  EXPECT_EQ(made.expanded, all);
  EXPECT_GT(made.expanded_bytes, 0);
  EXPECT_EQ(tensors(made.bytes, fb::Layout::bitmask_k4n16), 0u);
  EXPECT_EQ(made.bytes, with_rows(sparse_file(Sparse::kNever, PrunePattern::kUnstructured)).bytes);
}

TEST(HeliumRows, LeaveZerosOutWhenToldTo) {
  const FileBytes file = sparse_file(Sparse::kAlways);
  const HeliumFile kept = with_rows(file, {4, true});
  EXPECT_EQ(kept.bytes, file);
  EXPECT_EQ(kept.expanded, 0u);
  EXPECT_EQ(kept.expanded_bytes, 0);
  const HeliumFile made = with_rows(file);
  EXPECT_EQ(kept.slower, made.expanded);
  EXPECT_EQ(kept.slower_bytes, made.expanded_bytes);
}

TEST(HeliumRows, HoldAsManyZerosAsFit) {
  const FileBytes file = sparse_file(Sparse::kAlways);
  const HeliumFile all = with_rows(file);
  const uint64_t limit = file.size() + static_cast<uint64_t>(all.expanded_bytes) / 2;
  const HeliumFile some = with_rows(file, {4, false, limit});
  EXPECT_LE(some.bytes.size(), limit);
  EXPECT_GT(some.expanded, 0u);
  EXPECT_GT(some.slower, 0u);
  EXPECT_EQ(some.expanded + some.slower, all.expanded);
  EXPECT_EQ(some.expanded_bytes + some.slower_bytes, all.expanded_bytes);
  EXPECT_EQ(with_rows(file, {4, false, file.size()}).expanded, 0u);
}

TEST(HeliumRows, LeaveAFileWithoutInt8WeightsAsItIs) {
  const FileBytes file = small_file(fb::DType::f32);
  EXPECT_EQ(with_helium_rows(file.data(), file.size()).bytes, file);
}

}  // namespace
}  // namespace bantam::convert
