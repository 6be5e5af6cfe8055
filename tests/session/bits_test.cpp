// The same bits for every instruction set, number of workers, tile size and batch.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/effort.h"
#include "tests/every_isa.h"
#include "tests/session/bert.h"
#include "tests/session/run_helpers.h"

namespace bantam::testing {
namespace {

/// Lengths of the sequences of a batch. Every test runs the reference, which is slow under sanitizers and emulators.
const std::vector<uint32_t> kLengths =
    kSlowed ? std::vector<uint32_t>{1, 33, 16, 5} : std::vector<uint32_t>{1, 37, 16, 150, 64, 5};
/// For tests that run the reference many times: several tiles of every size that they request.
const std::vector<uint32_t> kFewRows = {1, 23, 16, 3};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct BitsCase {
  const char* name;
  WeightType type;
  bool f32_attention;
  bool places;  // biases, rotary positions and a window
};

class Bits : public ::testing::TestWithParam<BitsCase> {
 protected:
  Bits() {
    shape_.hidden = 48;
    shape_.heads = 4;
    shape_.positions = 200;
    if (GetParam().places) {
      shape_.mask = fb::MaskKind::window;
      shape_.window = 25;
      shape_.distances = 40;
      shape_.slopes = true;
      shape_.angles = 5;
      shape_.placed = 24;
      shape_.head_norms = true;
      shape_.segment_keys = true;
      shape_.sinks = true;
      shape_.before = 2;
      shape_.after = 1;
    }
    file_ = FileBytes(build(random_bert(shape_, 3), GetParam().type).finish());
    ids_ = random_ids(kLengths, shape_.vocabulary, shape_.segments, 4);
    SessionOptions options = default_options();
    options.isa = Isa::kReference;
    expected_ = run_once(file_, ids_, options);
  }

  static SessionOptions default_options() {
    SessionOptions options;
    options.f32_attention = GetParam().f32_attention;
    return options;
  }

  BertShape shape_;
  FileBytes file_;
  Ids ids_;
  std::vector<float> expected_;
};

TEST_P(Bits, EveryIsa) {
  for (const Isa isa : every_isa()) {
    if (!isa_available(isa)) continue;
    SessionOptions options = default_options();
    options.isa = isa;
    EXPECT_TRUE(same_bits(run_once(file_, ids_, options), expected_)) << isa_name(isa);
  }
}

TEST_P(Bits, EveryNumberOfWorkersAndTileSize) {
  for (const uint32_t workers : {1u, 2u, 3u, 8u}) {
    const Threads threads(workers);
    for (const uint32_t tile : {0u, 16u, 48u, 512u}) {
      SessionOptions options = default_options();
      options.workers = workers;
      options.parallel = threads.get();
      options.tile_rows = tile;
      EXPECT_TRUE(same_bits(run_once(file_, ids_, options), expected_)) << workers << " workers, tile " << tile;
    }
  }
}

/// Few rows, which form one tile, give the bits of one thread, whatever the threads share.
void expect_bits_of_one_thread(const FileBytes& file, const BertShape& shape, const std::vector<uint32_t>& lengths,
                               SessionOptions options) {
  const Ids few = random_ids(lengths, shape.vocabulary, shape.segments, 4);
  const std::vector<float> expected = run_once(file, few, options);
  for (const uint32_t workers : {2u, 3u, 20u}) {
    const Threads threads(workers);
    options.workers = workers;
    options.parallel = threads.get();
    for (const uint32_t block : {0u, 3u}) {
      options.block_rows = block;
      EXPECT_TRUE(same_bits(run_once(file, few, options), expected)) << few.ids.size() << " rows, " << workers;
    }
  }
}

/// Threads share the columns of layers.
TEST_P(Bits, FewRowsOfWideLayers) {
  BertShape shape = wide_shape();
  shape.activation = shape_.activation;
  const FileBytes file(build(random_bert(shape, 3), GetParam().type).finish());
  for (const std::vector<uint32_t>& lengths : {std::vector<uint32_t>{1}, {8}, {12}, {3, 1, 5}}) {
    expect_bits_of_one_thread(file, shape, lengths, default_options());
  }
}

/// Threads share heads.
TEST_P(Bits, FewRowsOfManyHeads) {
  BertShape shape = shape_;
  shape.heads = 64;
  shape.hidden = shape.heads * 12;
  const FileBytes file(build(random_bert(shape, 3), GetParam().type).finish());
  expect_bits_of_one_thread(file, shape, {12}, default_options());
  expect_bits_of_one_thread(file, shape, {8, 2}, default_options());
}

TEST_P(Bits, SmallTilesAndBlocks) {
  const Ids few = random_ids(kFewRows, shape_.vocabulary, shape_.segments, 4);
  SessionOptions whole = default_options();
  whole.isa = Isa::kReference;
  const std::vector<float> expected = run_once(file_, few, whole);
  for (const uint32_t tile : {4u, 20u}) {
    for (const uint32_t block : {1u, 3u, 16u}) {
      for (const Isa isa : {Isa::kReference, Isa::kAuto}) {
        SessionOptions options = default_options();
        options.tile_rows = tile;
        options.block_rows = block;
        options.isa = isa;
        EXPECT_TRUE(same_bits(run_once(file_, few, options), expected)) << "tile " << tile << ", block " << block;
      }
    }
  }
}

TEST_P(Bits, SequencesDoNotSeeTheirNeighbours) {
  size_t logit = 0;
  size_t tag = size_t{shape_.labels} * (ids_.offsets.size() - 1);
  for (size_t s = 0; s + 1 < ids_.offsets.size(); ++s) {
    Ids one;
    const auto begin = static_cast<std::ptrdiff_t>(ids_.offsets[s]),
               end = static_cast<std::ptrdiff_t>(ids_.offsets[s + 1]);
    one.ids.assign(ids_.ids.begin() + begin, ids_.ids.begin() + end);
    one.segments.assign(ids_.segments.begin() + begin, ids_.segments.begin() + end);
    one.offsets.push_back(static_cast<uint32_t>(end - begin));
    const std::vector<float> alone = run_once(file_, one, default_options());
    std::vector<float> together(expected_.begin() + static_cast<std::ptrdiff_t>(logit),
                                expected_.begin() + static_cast<std::ptrdiff_t>(logit + shape_.labels));
    const size_t tags = one.ids.size() * shape_.tags;
    together.insert(together.end(), expected_.begin() + static_cast<std::ptrdiff_t>(tag),
                    expected_.begin() + static_cast<std::ptrdiff_t>(tag + tags));
    EXPECT_TRUE(same_bits(alone, together)) << "sequence " << s;
    logit += shape_.labels;
    tag += tags;
  }
}

TEST_P(Bits, ASessionRemembersNothing) {
  Model model;
  ASSERT_EQ(Model::open(file_.data(), file_.size(), &model), Status::kOk);
  SessionOptions options = default_options();
  options.max_tokens = 400;
  options.max_sequences = 8;
  Arena arena(arena_bytes(model, options));
  Session* session = nullptr;
  ASSERT_EQ(Session::create(model, options, arena.data(), arena.size(), &session), Status::kOk);
  for (uint32_t round = 0; round < 3; ++round) {
    const Ids other = random_ids({200, 11 + round}, shape_.vocabulary, shape_.segments, 90 + round);
    ASSERT_EQ(session->run(other.batch()), Status::kOk);
    ASSERT_EQ(session->run(ids_.batch()), Status::kOk);
    OutputView logits, tags;
    ASSERT_EQ(session->output(0, &logits), Status::kOk);
    ASSERT_EQ(session->output(1, &tags), Status::kOk);
    std::vector<float> got = values(logits);
    const std::vector<float> rest = values(tags);
    got.insert(got.end(), rest.begin(), rest.end());
    EXPECT_TRUE(same_bits(got, expected_));
  }
}

TEST_P(Bits, AFileNeedsNoMoreThanSixteenByteAlignment) {
  const std::vector<uint8_t> bytes(file_.data(), file_.data() + file_.size());
  for (const size_t skew : {16u, 32u, 48u}) {
    const FileBytes shifted(bytes, 64, skew);
    for (const Isa isa : every_isa()) {
      if (!isa_available(isa) || isa == Isa::kReference) continue;
      SessionOptions options = default_options();
      options.isa = isa;
      EXPECT_TRUE(same_bits(run_once(shifted, ids_, options), expected_)) << isa_name(isa);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Bits,
                         ::testing::Values(BitsCase{"f32", WeightType::kF32, false, false},
                                           BitsCase{"f16", WeightType::kF16, false, false},
                                           BitsCase{"int8", WeightType::kI8, false, false},
                                           BitsCase{"int8_with_f32_attention", WeightType::kI8, true, false},
                                           BitsCase{"f32_places", WeightType::kF32, false, true},
                                           BitsCase{"int8_places", WeightType::kI8, false, true}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace bantam::testing
