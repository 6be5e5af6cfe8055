#include "golden/same_bits.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/every_isa.h"

namespace bantam::golden {
namespace {

std::vector<float> run_batch(const convert::FileBytes& file, const testing::Ids& ids, SessionOptions options) {
  Model model;
  EXPECT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  options.max_tokens = ids.offsets.back();
  options.max_sequences = static_cast<uint32_t>(ids.offsets.size()) - 1;
  testing::Arena arena(arena_bytes(model, options));
  Session* session = nullptr;
  EXPECT_EQ(Session::create(model, options, arena.data(), arena.size(), &session), Status::kOk);
  Batch batch = ids.batch();
  batch.segments = nullptr;
  EXPECT_EQ(session->run(batch), Status::kOk);
  std::vector<float> values;
  for (uint32_t s = 0; s < batch.sequences; ++s) {
    for (uint32_t o = 0; o < model.output_count(); ++o) {
      OutputView view;
      EXPECT_EQ(session->output(o, s, &view), Status::kOk);
      for (uint32_t r = 0; r < view.rows; ++r) {
        values.insert(values.end(), view.data + r * view.stride, view.data + r * view.stride + view.width);
      }
    }
  }
  return values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

void expect_same_bits(const convert::FileBytes& file, const testing::Ids& all) {
  SessionOptions options;
  options.isa = Isa::kReference;
  const std::vector<float> expected = run_batch(file, all, options);
  std::vector<float> alone;
  options.isa = Isa::kAuto;
  for (size_t s = 0; s + 1 < all.offsets.size(); ++s) {
    testing::Ids one;
    one.ids.assign(all.ids.data() + all.offsets[s], all.ids.data() + all.offsets[s + 1]);
    if (!all.marks.empty()) {
      one.marks.assign(all.marks.data() + all.offsets[s], all.marks.data() + all.offsets[s + 1]);
    }
    one.offsets = {0, all.offsets[s + 1] - all.offsets[s]};
    const std::vector<float> values = run_batch(file, one, options);
    alone.insert(alone.end(), values.begin(), values.end());
  }
  EXPECT_TRUE(same_bits(alone, expected));
  for (const Isa isa : testing::every_isa()) {
    if (!isa_available(isa)) continue;
    options.isa = isa;
    EXPECT_TRUE(same_bits(run_batch(file, all, options), expected)) << isa_name(isa);
  }
  options.isa = Isa::kAuto;
  options.tile_rows = 4;
  options.block_rows = 1;
  EXPECT_TRUE(same_bits(run_batch(file, all, options), expected));
  options.tile_rows = 8;
  options.block_rows = 3;
  const testing::Threads threads(3);
  options.workers = 3;
  options.parallel = threads.get();
  EXPECT_TRUE(same_bits(run_batch(file, all, options), expected));
}

}  // namespace bantam::golden
