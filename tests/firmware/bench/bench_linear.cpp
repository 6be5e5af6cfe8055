// Instructions of linear_q8 for some shapes, against the reference's bits. Run it with QEMU's -icount shift=0
// (targets/firmware/run.py --icount): instructions, never cycles.
#include <stdint.h>
#include <string.h>

#include "board.h"
#include "kernels/tables.h"

namespace {

using bantam::kernels::Activation;
using bantam::kernels::LinearQ8;

constexpr uint32_t kMostRows = 16;
constexpr uint32_t kMostK = 512;
constexpr uint32_t kMostN = 512;
constexpr uint32_t kMostWeights = 65536;

__attribute__((aligned(64), section(".arena"))) int8_t x[kMostRows * kMostK];
__attribute__((aligned(64), section(".arena"))) int8_t w[kMostWeights];
__attribute__((aligned(64), section(".arena"))) float y[kMostRows * kMostN];
float x_scale[kMostRows];
float w_scale[kMostN];
float bias[kMostN];
int32_t w_sum[kMostN];

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

/// True when the target's kernel gives the reference's bits.
bool measure(const Shape& shape, bool k16) {
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
  a.k16 = k16;
  bantam::kernels::reference::kTable.linear_q8(a);
  const uint32_t expected = hash_rows(a);
  memset(y, 0, sizeof y);
  const uint32_t instructions = instructions_of(bantam::kernels::table(bantam::Isa::kAuto)->linear_q8, a);
  const bool same = hash_rows(a) == expected;
  say_number(shape.rows, 3);
  say(" x");
  say_number(shape.k, 4);
  say(" ->");
  say_number(shape.n, 4);
  say(shape.activation == Activation::kNone ? "        " : "  GELU  ");
  say_number(instructions, 8);
  say(" instructions, ");
  const uint32_t hundredths = static_cast<uint32_t>(uint64_t{shape.rows} * shape.k * shape.n * 100 / instructions);
  say_number(hundredths / 100, 1);
  say(hundredths % 100 < 10 ? ".0" : ".");
  say_number(hundredths % 100, 1);
  say(same ? " MAC/instruction\n" : " MAC/instruction, OTHER BITS than the reference\n");
  return same;
}

}  // namespace

int main() {
  for (int8_t& v : x) v = static_cast<int8_t>(static_cast<int32_t>((next() >> 8) % 255) - 127);
  for (int8_t& v : w) v = static_cast<int8_t>(static_cast<int32_t>((next() >> 8) % 255) - 127);
  for (float& v : x_scale) v = static_cast<float>(1 + next() % 100) * 1e-4f;
  for (float& v : w_scale) v = static_cast<float>(1 + next() % 100) * 1e-4f;
  for (float& v : bias) v = static_cast<float>(static_cast<int32_t>(next() % 200) - 100) * 1e-2f;
  bool same = true;
  say("weights in tiles (tile_k4n16)\n");
  for (const Shape& shape : kShapes) same &= measure(shape, false);
  if (bantam::kernels::table(bantam::Isa::kAuto)->isa == bantam::Isa::kMve) {
    say("weights in rows (k16n1)\n");
    for (const Shape& shape : kShapes) same &= measure(shape, true);
  }
  return same ? 0 : 1;
}
