// Layers whose columns several threads share: the bits, and the largest values, of a single call, in whatever order the
// parts run.
#include "ops/parts.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tests/every_isa.h"
#include "tests/kernels/linear_cases.h"

namespace bantam::ops {
namespace {

using kernels::LinearQ8;
using kernels::test::Case;
using kernels::test::Guarded;
using kernels::test::LinearShape;
using kernels::test::Random;

/// Runs one thread per part, starting with the last part, all at the same time, so that conflicting writes are
/// detected. Counts the parts.
struct ThreadEach {
  uint32_t parts = 0;

  static bool run(void* session, uint32_t parts, void (*task)(void* arg, uint32_t part), void* arg) {
    static_cast<ThreadEach*>(session)->parts = parts;
    std::vector<std::thread> threads;
    for (uint32_t part = parts; part-- != 0;) threads.emplace_back([=] { task(arg, part); });
    for (std::thread& thread : threads) thread.join();
    return true;
  }
};

/// Memory for each part: the largest values of rows, then scratch.
struct Memory {
  static constexpr size_t kMaximum = 12 * 64;
  size_t stride;
  Guarded bytes;

  Memory(uint32_t k, uint32_t parts)
      : stride(kMaximum + std::max<size_t>(kernels::sparse_scratch(k), kernels::unpacked_scratch(kernels::pad16(k)))),
        bytes(stride * parts) {}
  void bind(LinearQ8* layer) {
    layer->row_maximum = layer->row_maximum == nullptr ? nullptr : bytes.as<int32_t>();
    layer->scratch = bytes.as<int8_t>() + kMaximum;
  }
};

std::vector<uint8_t> answer_of(const LinearQ8& layer) {
  std::vector<uint8_t> bytes;
  const auto add = [&](const void* from, size_t size) {
    bytes.insert(bytes.end(), static_cast<const uint8_t*>(from), static_cast<const uint8_t*>(from) + size);
  };
  for (uint32_t r = 0; r < layer.rows; ++r) {
    add(layer.y + r * layer.y_stride, size_t{layer.n} * 4);
    if (layer.row_maximum == nullptr) continue;
    const int32_t most = *std::max_element(layer.row_maximum + r * 16, layer.row_maximum + (r + 1) * 16);
    add(&most, sizeof most);
  }
  return bytes;
}

LinearShape shared_shape(Random& random) {
  LinearShape shape = LinearShape::random(random);
  shape.rows = random.between(1, 12);
  shape.n = 16 * random.between(8, 40);
  shape.k = kernels::pad4(static_cast<uint32_t>(kLeastShared / shape.n) + random.between(1, 200));
  shape.k16 = shape.bits = shape.extreme = false;
  return shape;
}

TEST(Parts, HaveTheBitsOfOneCall) {
  uint32_t shared = 0;
  for (const Isa isa : testing::every_isa()) {
    const kernels::Table* table = kernels::table(isa);
    if (table == nullptr) continue;
    for (uint64_t seed = 1; seed <= 24; ++seed) {
      Random random(seed);
      const LinearShape shape = shared_shape(random);
      Case<LinearQ8> one(seed, &shape);
      Memory memory(shape.k, kMostParts);
      LinearQ8 layer = one.args(*table);
      memory.bind(&layer);
      const bool finite = table->linear_q8(layer);
      const std::vector<uint8_t> expected = answer_of(layer);
      for (const uint32_t parts : {2u, 3u, kMostParts + 4}) {
        std::memset(layer.y, 0x55, (layer.rows - 1) * layer.y_stride * 4 + size_t{layer.n} * 4);
        ThreadEach threads;
        const Helpers helpers = {&threads, ThreadEach::run, parts, memory.stride};
        bool all_run = true;
        EXPECT_EQ(multiply_parts(helpers, table->linear_q8, layer, &all_run), finite);
        EXPECT_TRUE(all_run);
        EXPECT_GE(threads.parts, 2u);
        EXPECT_LE(threads.parts, kMostParts);
        EXPECT_TRUE(answer_of(layer) == expected)
            << isa_name(isa) << ", seed " << seed << ", " << parts << " parts of " << shape.n << " x " << shape.k
            << (shape.sparse       ? ", sparse"
                : shape.group != 0 ? ", int4"
                : shape.ternary    ? ", ternary"
                                   : "");
        ++shared;
      }
    }
  }
  EXPECT_GT(shared, 0u);
}

/// A small layer is not worth waking other threads.
TEST(Parts, SmallLayersStayWithTheirThread) {
  const kernels::Table* table = kernels::table(Isa::kReference);
  const LinearShape shape = {3, 64, 256, kernels::Activation::kNone, true, false, false, false};
  Case<LinearQ8> one(1, &shape);
  ThreadEach threads;
  bool all_run = true;
  EXPECT_TRUE(multiply_parts({&threads, ThreadEach::run, 4, 0}, table->linear_q8, one.args(*table), &all_run));
  EXPECT_EQ(threads.parts, 0u);
}

}  // namespace
}  // namespace bantam::ops
