// linear_calls ROWS INPUTS OUTPUTS CALLS: only calls of linear_q8 with int8 tiles, for counting instructions
// (peers_instructions.py). Needs only the kernels.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "kernels/kernels.h"

namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};
template <typename T>
using Aligned = std::unique_ptr<T, Free>;

template <typename T, typename F>
Aligned<T> filled(size_t count, const F& value) {
  Aligned<T> memory(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64)));
  for (size_t i = 0; i < count; ++i) memory.get()[i] = static_cast<T>(value(i));
  return memory;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bantam::kernels;
  if (argc != 5) {
    std::fprintf(stderr, "usage: linear_calls ROWS INPUTS OUTPUTS CALLS\n");
    return 2;
  }
  const auto number = [argv](int i) { return static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)); };
  const uint32_t rows = number(1), k = pad16(number(2)), n = pad16(number(3));
  const Table& table = *bantam::kernels::table(bantam::Isa::kAuto);
  const auto x = filled<int8_t>(size_t{rows} * k, [&](size_t i) { return (i * 37 % 255) ^ table.offset_xor; });
  const auto w = filled<int8_t>(size_t{n} * k, [](size_t i) { return static_cast<int>(i * 31 % 255) - 127; });
  // Sums of the tiles [n / 16][k / 4][16][4].
  const auto w_sum = filled<int32_t>(n, [&](size_t o) {
    int32_t sum = 0;
    for (size_t i = 0; i < k; ++i) sum += w.get()[(o / 16 * (k / 4) + i / 4) * 64 + o % 16 * 4 + i % 4];
    return sum;
  });
  const auto scales = filled<float>(rows > n ? rows : n, [](size_t) { return 0.01f; });
  const auto y = filled<float>(size_t{rows} * n, [](size_t) { return 0.0f; });
  LinearQ8 layer = {};
  layer.x = x.get();
  layer.x_stride = k;
  layer.x_scale = layer.w_scale = layer.bias = scales.get();
  layer.rows = rows;
  layer.w = w.get();
  layer.w_sum = w_sum.get();
  layer.k = k;
  layer.n = n;
  layer.y = y.get();
  layer.y_stride = n;
  bool finite = true;
  for (uint32_t call = number(4); call != 0; --call) finite &= table.linear_q8(layer);
  return finite ? 0 : 1;
}
