// Every layout of integer weights: visiting returns what was encoded, and padding is 0.
#include "format/weight_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "format/view.h"
#include "kernels/kernels.h"

namespace bantam::convert {
namespace {

constexpr fb::Layout kIntegerLayouts[] = {
#define BANTAM_WEIGHTS(layout, number, Format) fb::Layout::layout,
#include "format/weights.inc"
#undef BANTAM_WEIGHTS
};

class Collect : public BlockSink {
 public:
  Collect(size_t rows, size_t columns) : columns_(columns), values(rows * columns, 0) {}
  void block(uint32_t n, uint32_t k, const int8_t* weights) override {
    EXPECT_EQ(k % 4, 0u);
    for (uint32_t i = 0; i < 4; ++i) {
      if (n < values.size() / columns_ && k + i < columns_) {
        values[n * columns_ + k + i] = static_cast<int8_t>(values[n * columns_ + k + i] + weights[i]);
      } else {
        EXPECT_EQ(weights[i], 0) << "padding at " << n << ", " << k + i;
      }
    }
  }

 private:
  size_t columns_;

 public:
  std::vector<int8_t> values;
};

/// A tensor of that layout whose data has `bytes` bytes.
struct Described {
  Described(fb::Layout layout, size_t rows, size_t columns, size_t bytes) {
    fb::TensorT t;
    t.name = "weights";
    t.layout = layout;
    t.group = 32;
    t.shape = {fb::Dim(-1, 0, static_cast<int32_t>(rows), 1), fb::Dim(-1, 0, static_cast<int32_t>(columns), 1)};
    t.data = std::make_unique<fb::Blob>(0, bytes, 0, 0);
    builder.Finish(fb::Tensor::Pack(builder, &t));
  }
  const fb::Tensor& tensor() const { return *flatbuffers::GetRoot<fb::Tensor>(builder.GetBufferPointer()); }
  flatbuffers::FlatBufferBuilder builder;
};

TEST(WeightCodec, WhatIsEncodedIsVisited) {
  std::mt19937 random(7);
  for (const fb::Layout layout : kIntegerLayouts) {
    const WeightCodec& codec = weight_codec(layout);
    EXPECT_EQ(codec.layout, layout);
    const int most = layout == fb::Layout::tile_i4_k8n16 ? 7 : layout == fb::Layout::tile_ternary_k16n16 ? 1 : 127;
    for (int round = 0; round < 60; ++round) {
      const size_t rows = 1 + random() % 100;
      const size_t columns = 1 + random() % 90;
      const auto kept = static_cast<uint32_t>(random() % 5 * 25);
      std::vector<int8_t> weights(rows * columns, 0);
      for (int8_t& w : weights) {
        if (random() % 100 < kept)
          w = static_cast<int8_t>(static_cast<int>(random() % static_cast<uint32_t>(2 * most + 1)) - most);
      }
      const std::vector<uint8_t> bytes = codec.encode(weights.data(), rows, columns);
      const Described described(layout, rows, columns, bytes.size());
      Collect found(rows, columns);
      codec.visit(described.tensor(), bytes.data(), found);
      EXPECT_EQ(found.values, weights) << fb::EnumNameLayout(layout) << " " << rows << " x " << columns;
    }
  }
}

TEST(WeightCodec, FloatsAndRowsHaveNone) {
  for (const fb::Layout layout : fb::EnumValuesLayout()) {
    const bool integers =
        std::find(std::begin(kIntegerLayouts), std::end(kIntegerLayouts), layout) != std::end(kIntegerLayouts);
    EXPECT_EQ(find_weight_codec(layout) != nullptr, integers) << fb::EnumNameLayout(layout);
  }
}

}  // namespace
}  // namespace bantam::convert
