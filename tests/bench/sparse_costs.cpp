// Writes converter/prune/costs.inc: for each instruction set, number of tokens and of inputs, the share of zero blocks above
// which layout sparse_1x4 takes less time than int8 tiles, found by bisection; dense and sparse calls take turns, and the
// fastest of each counts.
//
//   sparse_costs > converter/prune/costs.inc
//   sparse_costs --speedup: the ratio of times at 80 % zeros instead, in blocks, and one by one in layout bitmask_k4n16
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "kernels/kernels.h"
#include "prune/bitmask.h"
#include "prune/sparse.h"
#include "tests/every_isa.h"

namespace bantam::kernels {
namespace {

using Clock = std::chrono::steady_clock;

struct Free {
  void operator()(void* p) const { std::free(p); }
};
template <typename T>
using Aligned = std::unique_ptr<T, Free>;
template <typename T>
Aligned<T> aligned(size_t count) {
  void* p = std::aligned_alloc(64, (count * sizeof(T) + 127) / 64 * 64);
  std::memset(p, 0, count * sizeof(T));
  return Aligned<T>(static_cast<T*>(p));
}

double seconds(const Table& table, const LinearQ8& layer) {
  const Clock::time_point begin = Clock::now();
  table.linear_q8(layer);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Time of int8 tiles over that of weights stored without zeros, at a share of blocks of `block` weights that are 0: 4, or 1 in a
/// bitmask.
double speedup(const Table& table, uint32_t tokens, uint32_t k, uint32_t n, double zeros, uint32_t block = 4) {
  std::mt19937 random(k + n);
  std::vector<int8_t> rows(size_t{n} * k, 0);
  const Aligned<int8_t> tiles = aligned<int8_t>(rows.size());
  const Aligned<int32_t> sums = aligned<int32_t>(n);
  for (uint32_t o = 0; o < n; ++o) {
    for (uint32_t i = 0; i < k; ++i) {
      if (i % block == 0 && random() % 1000 < static_cast<uint32_t>(zeros * 1000)) {
        i += block - 1;
        continue;
      }
      const auto w = static_cast<int8_t>(static_cast<int>(random() % 127) + 1);
      rows[size_t{o} * k + i] = w;
      tiles.get()[(size_t{o} / 16 * (k / 4) + i / 4) * 64 + o % 16 * 4 + i % 4] = w;
      sums.get()[o] += w;
    }
  }
  const std::vector<uint8_t> bytes =
      block == 1 ? convert::compress_bitmask(rows.data(), n, k) : convert::compress_1x4(rows.data(), n, k);
  const Aligned<uint8_t> stored = aligned<uint8_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), stored.get());
  const Aligned<int8_t> x = aligned<int8_t>(size_t{tokens} * k);
  for (size_t i = 0; i < size_t{tokens} * k; ++i) {
    const auto q = static_cast<uint8_t>(static_cast<int>(random() % 255) - 127);
    x.get()[i] = static_cast<int8_t>(q ^ table.offset_xor);
  }
  const Aligned<float> scales = aligned<float>(std::max(n, tokens));
  std::fill_n(scales.get(), std::max(n, tokens), 0.01f);
  const Aligned<float> y = aligned<float>(size_t{tokens} * n);
  const Aligned<int8_t> scratch = aligned<int8_t>(std::max(sparse_scratch(k), unpacked_scratch(k)));
  LinearQ8 dense = {};
  dense.x = x.get();
  dense.x_stride = k;
  dense.x_scale = scales.get();
  dense.rows = tokens;
  dense.w = tiles.get();
  dense.w_scale = scales.get();
  dense.w_sum = sums.get();
  dense.k = k;
  dense.n = n;
  dense.y = y.get();
  dense.y_stride = n;
  LinearQ8 sparse = dense;
  sparse.w = reinterpret_cast<const int8_t*>(stored.get());
  if (block == 1) {
    sparse.masks = reinterpret_cast<const uint64_t*>(stored.get());
    sparse.w += size_t{n} * k / 8;
  } else {
    const size_t steps = (bytes.size() - size_t{n} * 2) / 24;
    sparse.sparse.index = reinterpret_cast<const uint16_t*>(stored.get() + steps * 16);
    sparse.sparse.ends = reinterpret_cast<const uint32_t*>(stored.get() + steps * 24);
    sparse.sparse.order = stored.get() + steps * 24 + n;
  }
  sparse.scratch = scratch.get();
  double best[2] = {1e9, 1e9};
  for (const Clock::time_point begin = Clock::now(); Clock::now() - begin < std::chrono::milliseconds(25);) {
    best[0] = std::min(best[0], seconds(table, dense));
    best[1] = std::min(best[1], seconds(table, sparse));
  }
  return best[0] / best[1];
}

double break_even(const Table& table, uint32_t tokens, uint32_t k, uint32_t n) {
  if (speedup(table, tokens, k, n, 0.98) < 1) return 2;
  double slower = 0;
  double faster = 0.98;
  while (faster - slower > 0.02) {
    const double middle = (slower + faster) / 2;
    (speedup(table, tokens, k, n, middle) > 1 ? faster : slower) = middle;
  }
  return faster;
}

}  // namespace
}  // namespace bantam::kernels

int main(int argc, char** argv) {
  using namespace bantam::kernels;
  const bool at_80 = argc > 1 && std::strcmp(argv[1], "--speedup") == 0;
  if (argc > 1 && !at_80) {
    std::fprintf(stderr, "usage: sparse_costs [--speedup]\n");
    return 2;
  }
  if (!at_80) std::printf("// Written by sparse_costs (tests/bench): instruction set, tokens, inputs, break-even.\n");
  const uint32_t shapes[][2] = {{128, 512}, {384, 1536}, {1536, 384}};
  for (const bantam::Isa isa : bantam::testing::every_isa()) {
    if (isa == bantam::Isa::kReference) continue;
    const Table* table = bantam::kernels::table(isa);
    if (table == nullptr) continue;
    for (const uint32_t tokens : {1u, 4u, 8u, 16u}) {
      for (const auto& shape : shapes) {
        if (at_80) {
          std::printf("%-12s %2u tokens, %4u -> %4u: %.2f, bitmask %.2f\n", bantam::isa_name(isa), tokens, shape[0],
                      shape[1], speedup(*table, tokens, shape[0], shape[1], 0.8),
                      speedup(*table, tokens, shape[0], shape[1], 0.8, 1));
        } else {
          std::printf("{\"%s\", %u, %u, %.2f},\n", bantam::isa_name(isa), tokens, shape[0],
                      break_even(*table, tokens, shape[0], shape[1]));
        }
        std::fflush(stdout);
      }
    }
  }
  return 0;
}
