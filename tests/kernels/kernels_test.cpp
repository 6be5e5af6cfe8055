// Every kernel of the table on random shapes: the reference is compared with naive mathematics, and every other
// instruction set with the reference, byte for byte. All buffers end at guard pages.
#include <gtest/gtest.h>

#include <type_traits>

#include "tests/effort.h"
#include "tests/kernels/align_cases.h"
#include "tests/kernels/attention_cases.h"
#include "tests/kernels/feature_cases.h"
#include "tests/kernels/row_cases.h"
#include "tests/kernels/span_cases.h"
#include "tests/kernels/static_attention_cases.h"
#include "tests/kernels/static_linear_cases.h"
#include "tests/kernels/static_row_cases.h"

namespace bantam::kernels::test {
namespace {

const uint64_t kSeeds = bantam::testing::cases<uint64_t>(150, 30);

template <class Args>
void check_kernel(uint64_t salt) {
  for (uint64_t seed = 0; seed < kSeeds && !::testing::Test::HasFatalFailure(); ++seed) {
    Case<Args> c(salt * 1000003 + seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Result expected = c.run(*table(Isa::kReference));
    c.check(expected);
    for (const Table* t : tables()) {
      const Result got = c.run(*t);
      ASSERT_EQ(got.finite, expected.finite) << isa_name(t->isa);
      if (!expected.finite) continue;
      ASSERT_TRUE(got.bytes == expected.bytes) << isa_name(t->isa);
    }
  }
}

#define BANTAM_KERNEL(name, Args) \
  TEST(Kernels, name) { check_kernel<Args>(sizeof(#name)); }
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL

/// Checks a layer of 4-bit or ternary weights, and that every instruction set gives the reference's bits.
void check_few_bits(uint64_t seed, LinearShape shape) {
  Case<LinearQ8> c(seed, &shape);
  SCOPED_TRACE(std::to_string(shape.rows) + " rows, " + std::to_string(shape.k) + " inputs in groups of " +
               std::to_string(shape.group) + ", " + std::to_string(shape.n) + " outputs");
  const Result expected = c.run(*table(Isa::kReference));
  c.check(expected);
  for (const Table* t : tables()) ASSERT_TRUE(c.run(*t).bytes == expected.bytes) << isa_name(t->isa);
}

// Int4 kernels have different code for few rows, for the first block and for the others; each must handle all
// remainders of inputs and groups.
TEST(Kernels, Int4OfAnyRows) {
  Random random(4);
  for (uint32_t rows = 1; rows <= 40 && !::testing::Test::HasFatalFailure(); ++rows) {
    for (uint32_t tail = 1; tail <= 8; ++tail) {
      LinearShape shape{rows,
                        8 * random.between(0, 20) + tail,
                        16 * random.between(1, 5),
                        Activation::kNone,
                        true,
                        random.chance(20),
                        false,
                        random.chance(50)};
      shape.group = 8 * random.between(1, 9);
      if (tail == 4) {  // more inputs in a group than are summed at a time
        shape.k += 8 * random.between(60, 80);
        shape.group = 8 * random.between(60, 90);
      }
      check_few_bits(rows * 8 + tail, shape);
    }
  }
}

TEST(Kernels, TernaryOfAnyRows) {
  Random random(5);
  for (uint32_t rows = 1; rows <= 40 && !::testing::Test::HasFatalFailure(); ++rows) {
    for (uint32_t tail = 1; tail <= 16; tail += random.between(1, 3)) {
      LinearShape shape{rows,
                        16 * random.between(0, 12) + tail,
                        16 * random.between(1, 5),
                        Activation::kNone,
                        true,
                        random.chance(20),
                        false,
                        random.chance(50)};
      shape.ternary = true;
      if (random.chance(20)) shape.k += 16 * random.between(25, 100);  // more inputs than are summed at a time
      check_few_bits(rows * 16 + tail, shape);
    }
  }
}

// Weights whose products fit words, including the largest such weights, with all remainders of rows, inputs and
// outputs.
template <class Args>
void check_words(uint64_t seed) {
  Random random(seed);
  for (uint32_t rows = 1; rows <= 24 && !::testing::Test::HasFatalFailure(); ++rows) {
    for (uint32_t tail = 0; tail < 4; ++tail) {
      LinearShape shape{rows,
                        4 * (tail + 1) + (random.chance(30) ? random.between(200, 600) : 8 * random.between(0, 20)),
                        16 * random.between(1, 5),
                        Activation::kNone,
                        true,
                        random.chance(30),
                        false,
                        random.chance(50)};
      shape.words = true;
      if (std::is_same<Args, LinearQ8>::value && random.chance(30)) {
        shape.bits = true;
        shape.zeros = random.between(0, 99);
      }
      Case<Args> c(rows * 8 + tail, &shape);
      SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(shape.k) + " inputs, " + std::to_string(shape.n) +
                   " outputs");
      const Result expected = c.run(*table(Isa::kReference));
      c.check(expected);
      for (const Table* t : tables()) ASSERT_TRUE(c.run(*t).bytes == expected.bytes) << isa_name(t->isa);
    }
  }
}

TEST(Kernels, WeightsThatFitWords) { check_words<LinearQ8>(6); }
TEST(Kernels, StaticWeightsThatFitWords) { check_words<StaticLinear>(7); }

// Few rows have sums of their own kinds; static bytes of many rows are transposed in squares of 64, of which rows and
// outputs may fill any part.
template <class Args>
void check_sparse(uint64_t seed) {
  Random random(seed);
  for (uint32_t rows = 1; rows <= 130 && !::testing::Test::HasFatalFailure(); ++rows) {
    LinearShape shape{rows,
                      random.chance(20) ? random.between(500, 700) : random.between(1, 130),
                      16 * random.between(1, 9),
                      rows % 2 == 0 ? Activation::kNone : Activation::kGelu,
                      random.chance(70),
                      random.chance(10),
                      false,
                      false};
    shape.sparse = true;
    shape.zeros = random.chance(10) ? 100 : random.between(0, 99);
    Case<Args> c(rows, &shape);
    SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(shape.n) + " outputs");
    const Result expected = c.run(*table(Isa::kReference));
    c.check(expected);
    for (const Table* t : tables()) ASSERT_TRUE(c.run(*t).bytes == expected.bytes) << isa_name(t->isa);
  }
}

TEST(Kernels, SparseOfAnyRows) { check_sparse<LinearQ8>(8); }
TEST(Kernels, SparseStaticOfAnyRows) { check_sparse<StaticLinear>(5); }

// Results do not depend on the sequence's position among others, and thus not on its lanes in pages.
TEST(Kernels, AttentionDoesNotDependOnTheRow) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Case<Attention> c(seed);
    const Result expected = c.run(*table(Isa::kAuto));
    for (uint32_t first_row : {0u, 1u, 7u, 15u, 16u, 29u}) {
      c.move_to(first_row);
      for (const Table* t : tables()) {
        ASSERT_TRUE(c.run(*t).bytes == expected.bytes) << isa_name(t->isa) << " seed " << seed << " row " << first_row;
      }
    }
  }
}

}  // namespace
}  // namespace bantam::kernels::test
