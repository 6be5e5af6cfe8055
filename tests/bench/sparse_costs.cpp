// Writes the rows of converter/prune/costs.inc for the core it runs on: for each instruction set and number of tokens
// and of inputs, the fraction of zero blocks above which layout sparse_1x4 is faster than int8 tiles, found by
// bisection. Dense and sparse calls take turns, and the fastest of each counts. Rows of other cores stay unchanged.
//
//   sparse_costs --core zen5
//   sparse_costs --speedup: the ratio of times at 80 % zeros instead, in blocks, and one by one in layout bitmask_k4n16
//   sparse_costs --call LAYOUT TOKENS INPUTS OUTPUTS CALLS: for tests/bench/instructions.py
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "format/bitmask.h"
#include "format/sparse_1x4.h"
#include "kernels/kernels.h"
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

/// A layer of random weights, as int8 tiles and without its zeros: the fraction `zeros` of its blocks is zero. A block
/// has `block` weights: 4, or 1 in a bitmask.
class Layer {
 public:
  Layer(const Table& table, uint32_t tokens, uint32_t k, uint32_t n, double zeros, uint32_t block)
      : tiles_(aligned<int8_t>(size_t{n} * k)),
        sums_(aligned<int32_t>(n)),
        x_(aligned<int8_t>(size_t{tokens} * k)),
        scales_(aligned<float>(std::max(n, tokens))),
        y_(aligned<float>(size_t{tokens} * n)),
        scratch_(aligned<int8_t>(std::max(sparse_scratch(k), unpacked_scratch(k)))) {
    std::mt19937 random(k + n);
    std::vector<int8_t> rows(size_t{n} * k, 0);
    for (uint32_t o = 0; o < n; ++o) {
      for (uint32_t i = 0; i < k; ++i) {
        if (i % block == 0 && random() % 1000 < static_cast<uint32_t>(zeros * 1000)) {
          i += block - 1;
          continue;
        }
        const auto w = static_cast<int8_t>(static_cast<int>(random() % 127) + 1);
        rows[size_t{o} * k + i] = w;
        tiles_.get()[(size_t{o} / 16 * (k / 4) + i / 4) * 64 + o % 16 * 4 + i % 4] = w;
        sums_.get()[o] += w;
      }
    }
    const std::vector<uint8_t> bytes =
        block == 1 ? convert::compress_bitmask(rows.data(), n, k) : convert::compress_1x4(rows.data(), n, k);
    stored_ = aligned<uint8_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), stored_.get());
    for (size_t i = 0; i < size_t{tokens} * k; ++i) {
      const auto q = static_cast<uint8_t>(static_cast<int>(random() % 255) - 127);
      x_.get()[i] = static_cast<int8_t>(q ^ table.offset_xor);
    }
    std::fill_n(scales_.get(), std::max(n, tokens), 0.01f);
    dense.x = x_.get();
    dense.x_stride = k;
    dense.x_scale = scales_.get();
    dense.rows = tokens;
    dense.w = tiles_.get();
    dense.w_scale = scales_.get();
    dense.w_sum = sums_.get();
    dense.k = k;
    dense.n = n;
    dense.y = y_.get();
    dense.y_stride = n;
    sparse = dense;
    sparse.w = reinterpret_cast<const int8_t*>(stored_.get());
    sparse.scratch = scratch_.get();
    if (block == 1) {
      sparse.masks = reinterpret_cast<const uint64_t*>(stored_.get());
      sparse.w += size_t{n} * k / 8;
      return;
    }
    const size_t steps = (bytes.size() - size_t{n} * 2) / 24;
    sparse.sparse.index = reinterpret_cast<const uint16_t*>(stored_.get() + steps * 16);
    sparse.sparse.ends = reinterpret_cast<const uint32_t*>(stored_.get() + steps * 24);
    sparse.sparse.order = stored_.get() + steps * 24 + n;
  }

  LinearQ8 dense = {};
  LinearQ8 sparse = {};

 private:
  Aligned<int8_t> tiles_;
  Aligned<int32_t> sums_;
  Aligned<int8_t> x_;
  Aligned<float> scales_;
  Aligned<float> y_;
  Aligned<int8_t> scratch_;
  Aligned<uint8_t> stored_;
};

/// Returns the time of int8 tiles divided by that of weights stored without zeros.
double speedup(const Table& table, uint32_t tokens, uint32_t k, uint32_t n, double zeros, uint32_t block = 4) {
  const Layer layer(table, tokens, k, n, zeros, block);
  double best[2] = {1e9, 1e9};
  for (const Clock::time_point begin = Clock::now(); Clock::now() - begin < std::chrono::milliseconds(25);) {
    best[0] = std::min(best[0], seconds(table, layer.dense));
    best[1] = std::min(best[1], seconds(table, layer.sparse));
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

/// Only the calls, for counting instructions.
int call(const char* layout, uint32_t tokens, uint32_t k, uint32_t n, uint32_t calls) {
  const Table* table = kernels::table(Isa::kAuto);
  const bool bitmask = std::strcmp(layout, "bitmask") == 0;
  const Layer layer(*table, tokens, k, n, 0.8, bitmask ? 1 : 4);
  const LinearQ8& used = std::strcmp(layout, "dense") == 0 ? layer.dense : layer.sparse;
  bool finite = true;
  for (uint32_t i = 0; i < calls; ++i) finite &= table->linear_q8(used);
  return finite ? 0 : 1;
}

}  // namespace
}  // namespace bantam::kernels

int main(int argc, char** argv) {
  using namespace bantam::kernels;
  if (argc == 7 && std::strcmp(argv[1], "--call") == 0) {
    const auto number = [argv](int i) { return static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)); };
    return call(argv[2], number(3), number(4), number(5), number(6));
  }
  const bool at_80 = argc == 2 && std::strcmp(argv[1], "--speedup") == 0;
  const bool rows = argc == 3 && std::strcmp(argv[1], "--core") == 0;
  if (!at_80 && !rows) {
    std::fprintf(
        stderr,
        "usage: sparse_costs --core NAME | --speedup | --call dense|sparse|bitmask TOKENS INPUTS OUTPUTS CALLS\n");
    return 2;
  }
  const uint32_t shapes[][2] = {{128, 512}, {384, 1536}, {1536, 384}};
  for (const bantam::Isa isa : bantam::testing::every_isa()) {
    if (isa == bantam::Isa::kReference) continue;
    const Table* table = bantam::kernels::table(isa);
    if (table == nullptr) continue;
    for (const uint32_t tokens : {1u, 4u, 8u, 16u, 32u, 64u, 128u}) {
      if (!at_80 && tokens > 64) break;  // passes have at most 64 rows
      for (const auto& shape : shapes) {
        if (at_80) {
          std::printf("%-12s %3u tokens, %4u -> %4u: %.2f, bitmask %.2f\n", bantam::isa_name(isa), tokens, shape[0],
                      shape[1], speedup(*table, tokens, shape[0], shape[1], 0.8),
                      speedup(*table, tokens, shape[0], shape[1], 0.8, 1));
        } else {
          std::printf("{\"%s\", \"%s\", %u, %u, %.2f},\n", argv[2], bantam::isa_name(isa), tokens, shape[0],
                      break_even(*table, tokens, shape[0], shape[1]));
        }
        std::fflush(stdout);
      }
    }
  }
  return 0;
}
