// Sparse weights: files with them open, and every number that a kernel would use as an index is checked.
#include <gtest/gtest.h>

#include <cstring>

#include "bantam/model.h"
#include "kernels/kernels.h"
#include "tests/session/bert.h"

namespace bantam::testing::sparse_test {
namespace {

constexpr uint32_t kOutputs = 128;  // padded: two spans
constexpr uint32_t kQuads = 10;
constexpr size_t kSteps = kOutputs / 4 * kQuads;
constexpr size_t kIndexAt = kSteps * 16;
constexpr size_t kEndsAt = kIndexAt + kSteps * 8;
constexpr size_t kOrderAt = kEndsAt + kOutputs;

/// A model in which one layer, with 120 outputs and 40 inputs, stores its weights in blocks, without zero blocks.
struct Sparse {
  ModelBuilder builder = build(random_bert({}, 2), WeightType::kI8);
  fb::TensorT* tensor = nullptr;

  explicit Sparse(const std::string& name = "layer.0.qkv") {
    for (const auto& t : builder.model.tensors) {
      if (t->name == name) tensor = t.get();
    }
    const auto tiles = static_cast<size_t>(tensor->data->offset());
    std::vector<uint8_t> bytes(kOrderAt + kOutputs);
    for (size_t step = 0; step < kSteps; ++step) {
      for (size_t j = 0; j < 4; ++j) {
        const size_t output = step / kQuads * 4 + j;
        const auto quad = static_cast<uint16_t>(step % kQuads);
        const size_t from = tiles + (output / 16 * kQuads + quad) * 64 + output % 16 * 4;
        std::memcpy(&bytes[step * 16 + j * 4], builder.data.data() + from, 4);
        std::memcpy(&bytes[kIndexAt + (step * 4 + j) * 2], &quad, 2);
      }
    }
    for (uint32_t group = 0; group < kOutputs / 4; ++group) {
      const uint32_t end = (group + 1) * kQuads;
      std::memcpy(&bytes[kEndsAt + group * 4], &end, 4);
    }
    for (uint32_t o = 0; o < kOutputs; ++o) bytes[kOrderAt + o] = static_cast<uint8_t>(o % 64);
    tensor->layout = fb::Layout::sparse_1x4;
    tensor->data = std::make_unique<fb::Blob>(builder.store(bytes.data(), bytes.size()));
  }

  template <typename T>
  void put(size_t at, T value) {
    std::memcpy(builder.data.data() + tensor->data->offset() + at, &value, sizeof value);
  }
  void resize(uint64_t size) { *tensor->data = fb::Blob(tensor->data->offset(), size, 0, 0); }

  Status open(Fault* fault = nullptr) const {
    const FileBytes file(builder.finish());
    Model model;
    return Model::open(file.data(), file.size(), &model, fault);
  }
};

TEST(SparseWeights, Open) { EXPECT_EQ(Sparse().open(), Status::kOk); }

struct Damage {
  const char* name;
  const char* says;
  void (*apply)(Sparse& sparse);
};

const Damage kDamages[] = {
    {"block_beyond_the_inputs", "beyond the inputs", [](Sparse& s) { s.put<uint16_t>(kIndexAt, kQuads); }},
    {"last_block_far_away", "beyond the inputs", [](Sparse& s) { s.put<uint16_t>(kEndsAt - 2, 0xFFFF); }},
    {"group_ends_before_it_begins", "in order", [](Sparse& s) { s.put<uint32_t>(kEndsAt + 4, kQuads - 1); }},
    {"group_ends_beyond_the_steps", "in order", [](Sparse& s) { s.put<uint32_t>(kEndsAt + 4, 1u << 31); }},
    {"steps_left_over", "all steps", [](Sparse& s) { s.put<uint32_t>(kOrderAt - 4, kSteps - 1); }},
    {"too_many_steps", "all steps", [](Sparse& s) { s.put<uint32_t>(kOrderAt - 4, kSteps + 1); }},
    {"output_twice", "one place", [](Sparse& s) { s.put<uint8_t>(kOrderAt + 3, 4); }},
    {"output_of_another_span", "one place", [](Sparse& s) { s.put<uint8_t>(kOrderAt + kOutputs - 1, 64); }},
    {"output_with_the_bit_of_another", "one place", [](Sparse& s) { s.put<uint8_t>(kOrderAt, 64); }},
    {"half_a_step", "whole number", [](Sparse& s) { s.resize(s.tensor->data->size() - 12); }},
    {"a_step_less", "", [](Sparse& s) { s.resize(s.tensor->data->size() - 24); }},
    {"nothing_but_outputs", "", [](Sparse& s) { s.resize(2 * kOutputs); }},
    {"less_than_the_outputs", "smaller", [](Sparse& s) { s.resize(2 * kOutputs - 1); }},
    {"no_data", "absent", [](Sparse& s) { s.tensor->data.reset(); }},
    {"no_scales", "absent", [](Sparse& s) { s.tensor->scales.reset(); }},
    {"no_sums", "absent", [](Sparse& s) { s.tensor->sums.reset(); }},
    {"unsigned", "type i8", [](Sparse& s) { s.tensor->type = fb::DType::u8; }},
    {"fixed_scales", "have no scales", [](Sparse& s) { s.tensor->scale_kind = fb::ScaleKind::fixed; }},
};

class SparseWeightsRefused : public ::testing::TestWithParam<Damage> {};

TEST_P(SparseWeightsRefused, WithAReason) {
  Sparse sparse;
  GetParam().apply(sparse);
  Fault fault;
  EXPECT_EQ(sparse.open(&fault), Status::kCorrupt);
  EXPECT_NE(std::string(fault.what).find(GetParam().says), std::string::npos) << fault.what;
}
INSTANTIATE_TEST_SUITE_P(Data, SparseWeightsRefused, ::testing::ValuesIn(kDamages),
                         [](const auto& test) { return std::string(test.param.name); });

/// The same layer as a bitmask, without zero weights.
struct Bitmask {
  static constexpr size_t kTiles = kOutputs / 16 * kQuads;
  ModelBuilder builder = build(random_bert({}, 2), WeightType::kI8);
  fb::TensorT* tensor = nullptr;

  Bitmask() {
    for (const auto& t : builder.model.tensors) {
      if (t->name == "layer.0.qkv") tensor = t.get();
    }
    const std::vector<uint8_t> tiles(
        builder.data.begin() + static_cast<ptrdiff_t>(tensor->data->offset()),
        builder.data.begin() + static_cast<ptrdiff_t>(tensor->data->offset() + kTiles * 64));
    std::vector<uint8_t> bytes(kTiles * 8, 0);
    for (size_t i = 0; i < tiles.size(); ++i) {
      if (tiles[i] == 0) continue;
      bytes[i / 8] = static_cast<uint8_t>(bytes[i / 8] | 1u << (i % 8));
      bytes.push_back(tiles[i]);
    }
    bytes.resize(bytes.size() + kernels::kBitmaskSlack, 0);
    tensor->layout = fb::Layout::bitmask_k4n16;
    tensor->data = std::make_unique<fb::Blob>(builder.store(bytes.data(), bytes.size()));
  }

  void flip(size_t bit) {
    builder.data[static_cast<size_t>(tensor->data->offset()) + bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
  }
  void grow(int bytes) {
    *tensor->data = fb::Blob(tensor->data->offset(), tensor->data->size() + static_cast<uint64_t>(bytes), 0, 0);
  }
  Status open(Fault* fault = nullptr) const {
    const FileBytes file(builder.finish());
    Model model;
    return Model::open(file.data(), file.size(), &model, fault);
  }
};

TEST(BitmaskWeights, Open) { EXPECT_EQ(Bitmask().open(), Status::kOk); }

struct BitmaskDamage {
  const char* name;
  const char* says;
  void (*apply)(Bitmask& bitmask);
};
const BitmaskDamage kBitmaskDamages[] = {
    {"first_bit", "other weights", [](Bitmask& b) { b.flip(0); }},
    {"last_bit", "other weights", [](Bitmask& b) { b.flip(Bitmask::kTiles * 64 - 1); }},
    {"a_byte_less", "other weights", [](Bitmask& b) { b.grow(-1); }},
    {"a_byte_more", "other weights", [](Bitmask& b) { b.grow(1); }},
    {"less_than_the_masks", "smaller",
     [](Bitmask& b) { *b.tensor->data = fb::Blob(b.tensor->data->offset(), Bitmask::kTiles * 8 + 7, 0, 0); }},
    {"no_data", "absent", [](Bitmask& b) { b.tensor->data.reset(); }},
    {"no_scales", "absent", [](Bitmask& b) { b.tensor->scales.reset(); }},
    {"unsigned", "type i8", [](Bitmask& b) { b.tensor->type = fb::DType::u8; }},
    {"fixed_scales", "type i8", [](Bitmask& b) { b.tensor->scale_kind = fb::ScaleKind::fixed; }},
};

class BitmaskWeightsRefused : public ::testing::TestWithParam<BitmaskDamage> {};

TEST_P(BitmaskWeightsRefused, WithAReason) {
  Bitmask bitmask;
  GetParam().apply(bitmask);
  Fault fault;
  EXPECT_EQ(bitmask.open(&fault), Status::kCorrupt);
  EXPECT_NE(std::string(fault.what).find(GetParam().says), std::string::npos) << fault.what;
}
INSTANTIATE_TEST_SUITE_P(Data, BitmaskWeightsRefused, ::testing::ValuesIn(kBitmaskDamages),
                         [](const auto& test) { return std::string(test.param.name); });

/// The signs of the same layer's weights, as ternary ones.
struct Ternary {
  static constexpr size_t kSteps = (kQuads + 3) / 4;  // of 16 inputs
  ModelBuilder builder = build(random_bert({}, 2), WeightType::kI8);
  fb::TensorT* tensor = nullptr;

  Ternary() {
    for (const auto& t : builder.model.tensors) {
      if (t->name == "layer.0.qkv") tensor = t.get();
    }
    const auto* tiles = reinterpret_cast<const int8_t*>(builder.data.data() + tensor->data->offset());
    std::vector<uint8_t> bytes(kOutputs / 16 * kSteps * 64, 0x55);
    for (size_t i = 0; i < kOutputs / 16 * kQuads * 64; ++i) {
      const size_t panel = i / 64 / kQuads, quad = i / 64 % kQuads;
      uint8_t& byte = bytes[(panel * kSteps + quad / 4) * 64 + i % 64];
      const int code = 1 + (tiles[i] > 0 ? 1 : 0) - (tiles[i] < 0 ? 1 : 0);
      byte = static_cast<uint8_t>((byte & ~(3 << quad % 4 * 2)) | code << quad % 4 * 2);
    }
    tensor->type = fb::DType::ternary;
    tensor->layout = fb::Layout::tile_ternary_k16n16;
    tensor->fits_words = false;
    tensor->data = std::make_unique<fb::Blob>(builder.store(bytes.data(), bytes.size()));
  }

  void set(size_t byte, uint8_t value) { builder.data[static_cast<size_t>(tensor->data->offset()) + byte] = value; }
  Status open(Fault* fault = nullptr) const {
    const FileBytes file(builder.finish());
    Model model;
    return Model::open(file.data(), file.size(), &model, fault);
  }
};

TEST(TernaryWeights, Open) { EXPECT_EQ(Ternary().open(), Status::kOk); }

TEST(TernaryWeights, OfTheFourthCodeAreRefused) {
  const size_t bytes = static_cast<size_t>(Ternary().tensor->data->size());
  for (const size_t byte : {size_t{0}, size_t{7}, size_t{64}, bytes - 1}) {
    for (const uint8_t value : {uint8_t{0x03}, uint8_t{0x0C}, uint8_t{0x75}, uint8_t{0xC0}, uint8_t{0xFF}}) {
      Ternary ternary;
      ternary.set(byte, value);
      Fault fault;
      EXPECT_EQ(ternary.open(&fault), Status::kCorrupt) << byte;
      EXPECT_NE(std::string(fault.what).find("none of -1, 0 and 1"), std::string::npos) << fault.what;
    }
    for (const uint8_t value : {uint8_t{0x00}, uint8_t{0xAA}, uint8_t{0x99}, uint8_t{0x66}}) {
      Ternary ternary;
      ternary.set(byte, value);
      EXPECT_EQ(ternary.open(), Status::kOk) << byte;
    }
  }
}

TEST(TernaryWeights, NeedAllTheirData) {
  for (const int less : {1, 64}) {
    Ternary ternary;
    const fb::Blob& data = *ternary.tensor->data;
    *ternary.tensor->data = fb::Blob(data.offset(), data.size() - static_cast<uint64_t>(less), 0, 0);
    Fault fault;
    EXPECT_EQ(ternary.open(&fault), Status::kCorrupt);
    EXPECT_NE(std::string(fault.what).find("smaller"), std::string::npos) << fault.what;
  }
}

TEST(TernaryWeights, ManyTensorsOfTheSameBytesAreRefused) {
  Ternary ternary;
  const uint64_t data = ternary.builder.data.size();
  for (uint64_t read = 0; read <= data; read += ternary.tensor->data->size()) {
    ternary.builder.model.tensors.push_back(std::make_unique<fb::TensorT>(*ternary.tensor));
  }
  Fault fault;
  EXPECT_EQ(ternary.open(&fault), Status::kCorrupt);
  EXPECT_NE(std::string(fault.what).find("share"), std::string::npos) << fault.what;
}

TEST(SparseWeights, ManyTensorsOfTheSameBytesAreRefused) {
  // Otherwise opening a small file could take hours.
  Sparse sparse;
  const uint64_t data = sparse.builder.data.size();
  for (uint64_t read = 0; read <= data; read += sparse.tensor->data->size()) {
    sparse.builder.model.tensors.push_back(std::make_unique<fb::TensorT>(*sparse.tensor));
  }
  Fault fault;
  EXPECT_EQ(sparse.open(&fault), Status::kCorrupt);
  EXPECT_NE(std::string(fault.what).find("share"), std::string::npos) << fault.what;
}

}  // namespace
}  // namespace bantam::testing::sparse_test
