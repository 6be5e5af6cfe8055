// Instruction counts of linear_q8 and static_linear for several shapes and weight layouts, checked against the
// reference's bits. Run it with QEMU's -icount shift=0 (targets/firmware/run.py --icount), which counts instructions,
// not cycles.
#include <stdint.h>
#include <string.h>

#include "board.h"
#include "kernels/tables.h"

namespace {

using bantam::kernels::Activation;
using bantam::kernels::LinearQ8;

constexpr uint32_t kMostRows = 16;
constexpr uint32_t kMostK = 512;  // with 16 rows
constexpr uint32_t kMostN = 512;
constexpr uint32_t kMostWeights = 65536;

__attribute__((aligned(64), section(".arena"))) int8_t x[kMostRows * kMostK];
__attribute__((aligned(64), section(".arena"))) int8_t w[kMostWeights];
__attribute__((aligned(64), section(".arena"))) float y[kMostRows * kMostN];
__attribute__((aligned(64), section(".arena"))) int8_t scratch[8 * kMostK];
float x_scale[kMostRows];
float w_scale[kMostN];
float bias[kMostN];
int32_t w_sum[kMostN];
int32_t static_bias[kMostN];
int16_t multiplier[kMostN];

void say(const char* text) { board_write(text, strlen(text)); }

void say_number(uint32_t value, uint32_t width) {
  char text[12];
  size_t at = sizeof text;
  do {
    text[--at] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  while (sizeof text - at < width) text[--at] = ' ';
  board_write(text + at, sizeof text - at);
}

uint32_t state = 1;
uint32_t next() { return state = state * 1664525u + 1013904223u; }

uint32_t hash_rows(const LinearQ8& a) {
  uint32_t hash = 2166136261u;
  for (uint32_t r = 0; r < a.rows; ++r) {
    for (uint32_t n = 0; n < a.n; ++n) {
      uint32_t bits;
      memcpy(&bits, a.y + r * a.y_stride + n, 4);
      hash = (hash ^ bits) * 16777619u;
    }
  }
  return hash;
}

uint32_t instructions_of(bool (*kernel)(const LinearQ8&), const LinearQ8& a) {
  const uint32_t begin = board_ticks();
  kernel(a);
  const uint32_t ticks = board_ticks() - begin;
  return static_cast<uint32_t>(uint64_t{ticks} * 1000000000u / board_ticks_per_second());
}

struct Shape {
  uint32_t rows, k, n;
  Activation activation;
};
constexpr Shape kShapes[] = {{16, 128, 512, Activation::kNone}, {16, 128, 512, Activation::kGelu},
                             {16, 512, 128, Activation::kNone}, {16, 128, 128, Activation::kNone},
                             {8, 128, 512, Activation::kNone},  {8, 512, 128, Activation::kNone},
                             {4, 128, 512, Activation::kNone},  {1, 128, 512, Activation::kNone},
                             {7, 60, 48, Activation::kNone},    {13, 124, 32, Activation::kNone}};

int8_t random_weight() { return static_cast<int8_t>(static_cast<int32_t>((next() >> 8) % 255) - 127); }

/// Tiles and rows use the random bytes that are in w from the start; for the other layouts, each shape fills w again.
enum class Layout { kTiles, kRows, kInt4, kSparse, kBitmask };
constexpr uint32_t kKeptPercent = 20;

/// Keeps `kept` random blocks of four of each output.
void fill_sparse(LinearQ8& a, uint32_t kept) {
  const uint32_t quads = a.k / 4;
  const uint32_t steps = a.n / 4 * kept;
  uint16_t* index = reinterpret_cast<uint16_t*>(w + size_t{steps} * 16);
  uint32_t* ends = reinterpret_cast<uint32_t*>(index + size_t{steps} * 4);
  uint8_t* order = reinterpret_cast<uint8_t*>(ends + a.n / 4);
  for (uint32_t i = 0; i < steps * 16; ++i) w[i] = random_weight();
  for (uint32_t n = 0; n < a.n; ++n) {
    uint32_t found = 0;
    for (uint32_t quad = 0; quad < quads; ++quad) {
      // Algorithm S of Knuth, The Art of Computer Programming 3.4.2: every choice of `kept` is equally likely.
      if ((next() >> 8) % (quads - quad) >= kept - found) continue;
      index[(n / 4 * kept + found++) * 4 + n % 4] = static_cast<uint16_t>(quad);
    }
    order[n] = static_cast<uint8_t>(n % bantam::kernels::kSparseSpan);
    if (n % 4 == 3) ends[n / 4] = (n / 4 + 1) * kept;
  }
  a.w = w;
  a.sparse = {index, ends, order};
}

void fill_bitmask(LinearQ8& a) {
  const uint32_t tiles = a.n / 16 * (a.k / 4);
  uint64_t* masks = reinterpret_cast<uint64_t*>(w);
  int8_t* values = w + size_t{tiles} * 8;
  a.w = values;
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    masks[tile] = 0;
    for (uint32_t i = 0; i < 64; ++i) {
      if ((next() >> 8) % 100 >= kKeptPercent) continue;
      masks[tile] |= uint64_t{1} << i;
      *values++ = random_weight();
    }
  }
  a.masks = masks;
}

void fill_int4(LinearQ8& a) {
  a.group = 32;
  const uint32_t bytes = a.n * bantam::kernels::pad8(a.k) / 2;
  for (uint32_t i = 0; i < bytes; ++i) w[i] = static_cast<int8_t>(next() >> 8);
  uint8_t* factors = reinterpret_cast<uint8_t*>(w + bytes);
  for (uint32_t i = 0; i < a.n * ((a.k + 31) / 32); ++i) factors[i] = static_cast<uint8_t>(1 + (next() >> 8) % 15);
  a.w = w;
  a.factors = factors;
}

/// Returns a layer whose weights are those in w.
LinearQ8 layer_of(const Shape& shape) {
  LinearQ8 a = {};
  a.x = x;
  a.x_stride = bantam::kernels::pad16(shape.k);
  a.x_scale = x_scale;
  a.rows = shape.rows;
  a.w = w;
  a.w_scale = w_scale;
  a.w_sum = w_sum;
  a.bias = bias;
  a.k = shape.k;
  a.n = shape.n;
  a.activation = shape.activation;
  a.y = y;
  a.y_stride = shape.n;
  a.scratch = scratch;
  return a;
}

void say_result(const Shape& shape, const char* kind, uint32_t instructions, bool same) {
  say_number(shape.rows, 3);
  say(" x");
  say_number(shape.k, 4);
  say(" ->");
  say_number(shape.n, 4);
  say(kind);
  say_number(instructions, 8);
  say(" instructions, ");
  const uint32_t hundredths = static_cast<uint32_t>(uint64_t{shape.rows} * shape.k * shape.n * 100 / instructions);
  say_number(hundredths / 100, 1);
  say(hundredths % 100 < 10 ? ".0" : ".");
  say_number(hundredths % 100, 1);
  say(same ? " MAC/instruction\n" : " MAC/instruction, OTHER BITS than the reference\n");
}

/// Measures static_linear from int8 to int8 without a table, as in layers between others. Returns true if the target's
/// kernel gives the reference's bits.
bool measure_static(const Shape& shape, Layout layout) {
  bantam::kernels::StaticLinear a = {};
  a.x = x;
  a.x_stride = bantam::kernels::pad16(shape.k);
  a.rows = shape.rows;
  a.w = w;
  a.w_sum = w_sum;
  a.k = shape.k;
  a.n = shape.n;
  a.requantise = {static_bias, multiplier, 4, 15};
  a.y8 = reinterpret_cast<int8_t*>(y);
  a.y_stride = shape.n;
  a.k16 = layout == Layout::kRows;
  const size_t bytes = size_t{shape.rows} * shape.n;
  bantam::kernels::reference::kTable.static_linear(a);
  memcpy(y + sizeof y / sizeof y[0] / 2, y, bytes);
  memset(y, 0, bytes);
  const uint32_t begin = board_ticks();
  bantam::kernels::table(bantam::Isa::kAuto)->static_linear(a);
  const uint32_t ticks = board_ticks() - begin;
  const bool same = memcmp(y + sizeof y / sizeof y[0] / 2, y, bytes) == 0;
  say_result(shape, "  int8  ", static_cast<uint32_t>(uint64_t{ticks} * 1000000000u / board_ticks_per_second()), same);
  return same;
}

/// Returns true if the target's kernel gives the reference's bits.
bool measure(const Shape& shape, Layout layout) {
  LinearQ8 a = layer_of(shape);
  a.k16 = layout == Layout::kRows;
  if (layout == Layout::kInt4) fill_int4(a);
  if (layout == Layout::kSparse) fill_sparse(a, (a.k / 4 * kKeptPercent + 99) / 100);
  if (layout == Layout::kBitmask) fill_bitmask(a);
  bantam::kernels::reference::kTable.linear_q8(a);
  const uint32_t expected = hash_rows(a);
  memset(y, 0, sizeof y);
  const uint32_t instructions = instructions_of(bantam::kernels::table(bantam::Isa::kAuto)->linear_q8, a);
  const bool same = hash_rows(a) == expected;
  say_result(shape, shape.activation == Activation::kNone ? "        " : "  GELU  ", instructions, same);
  return same;
}

/// Returns the instructions of eight calls, because the board's clock advances about thirty instructions at a time.
uint32_t instructions_of_eight(const LinearQ8& a) {
  uint32_t all = 0;
  for (uint32_t i = 0; i < 8; ++i) all += instructions_of(bantam::kernels::table(bantam::Isa::kAuto)->linear_q8, a);
  return all;
}

/// Prints a line of converter/prune/costs_helium.inc: the least fraction of zero blocks at which sparse_1x4 needs fewer
/// instructions than rows.
void say_break_even(uint32_t rows, uint32_t k) {
  const Shape shape = {rows, k, 64, Activation::kNone};
  LinearQ8 dense = layer_of(shape);
  dense.k16 = true;
  const uint32_t instructions = instructions_of_eight(dense);
  uint32_t faster = 0;  // number of blocks per output
  uint32_t slower = k / 4;
  while (slower - faster > 1) {
    const uint32_t kept = (faster + slower) / 2;
    LinearQ8 sparse = layer_of(shape);
    fill_sparse(sparse, kept);
    (instructions_of_eight(sparse) < instructions ? faster : slower) = kept;
  }
  // A layer must have at least one block.
  const uint32_t hundredths = faster == 0 ? 200 : 100 - faster * 100 / (k / 4);
  say("{\"cortex-m55\", \"mve\", ");
  say_number(rows, 1);
  say(", ");
  say_number(k, 1);
  say(", ");
  say_number(hundredths / 100, 1);
  say(hundredths % 100 < 10 ? ".0" : ".");
  say_number(hundredths % 100, 1);
  say("},\n");
}

}  // namespace

int main() {
  for (int8_t& v : x) v = static_cast<int8_t>(static_cast<int32_t>((next() >> 8) % 255) - 127);
  for (int8_t& v : w) v = random_weight();
  for (float& v : x_scale) v = static_cast<float>(1 + next() % 100) * 1e-4f;
  for (float& v : w_scale) v = static_cast<float>(1 + next() % 100) * 1e-4f;
  for (float& v : bias) v = static_cast<float>(static_cast<int32_t>(next() % 200) - 100) * 1e-2f;
  for (int32_t& v : static_bias) v = static_cast<int32_t>(next() >> 8) % 20000 - 10000;
  for (int16_t& v : multiplier) v = static_cast<int16_t>(1 + (next() >> 8) % 2000);
  bool same = true;
  const auto measure_all = [&same](const char* name, Layout layout) {
    say(name);
    for (const Shape& shape : kShapes) same &= measure(shape, layout);
    if (layout != Layout::kTiles && layout != Layout::kRows) return;
    for (const Shape& shape : kShapes) {
      if (shape.activation == Activation::kNone) same &= measure_static(shape, layout);
    }
  };
  measure_all("weights in tiles (tile_k4n16)\n", Layout::kTiles);
  if (bantam::kernels::table(bantam::Isa::kAuto)->isa == bantam::Isa::kMve) {
    measure_all("weights in rows (k16n1)\n", Layout::kRows);
    say("instruction set, tokens, inputs, break-even of sparse_1x4 against rows\n");
    for (uint32_t rows = 1; rows <= 4; ++rows) {
      for (uint32_t k = 64; k <= 1024; k *= 2) say_break_even(rows, k);
    }
  }
  // MACs are those of the dense layer, including zeros.
  measure_all("a fifth of the blocks of four (sparse_1x4)\n", Layout::kSparse);
  measure_all("a fifth of the weights, with a bit for each (bitmask_k4n16)\n", Layout::kBitmask);
  measure_all("weights of 4 bits (tile_i4_k8n16)\n", Layout::kInt4);
  return same ? 0 : 1;
}
