// The filter bank on a board or a host. Each line is one command: `h` prints hashes of the rows of generated sounds;
// `r` with samples (hexadecimal, two bytes each, low byte first) prints their rows; `t` prints the instructions per row
// if QEMU counts them.
#include "bantam/sound.h"
#include "console.h"

namespace {

using bantam::test::put;

bantam::FilterBank bank;

uint32_t state;
int32_t draw(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return static_cast<int32_t>((state >> 8) % below);
}

/// Noise, a triangle wave of rising pitch, and clicks, whose volumes depend on the round.
int16_t sample(uint32_t round, uint32_t n, uint32_t* phase) {
  const int32_t noise = (draw(65536) - 32768) >> (round * 5 % 17);
  *phase += (round * 37 + 3) * 40 + n / 8;
  const int32_t place = static_cast<int32_t>(*phase >> 3 & 0x1FFFF);
  const int32_t triangle = ((place < 0x10000 ? place : 0x1FFFF - place) - 32768) >> (round * 3 % 16);
  const int32_t click = draw(600) == 0 ? 20000 >> (round % 15) : 0;
  const int32_t sum = noise + triangle + click;
  return static_cast<int16_t>(sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum);
}

void hashes() {
  bantam::test::Hash hash;
  for (uint32_t round = 0; round < 24; ++round) {
    bank.clear();
    state = round;
    uint32_t phase = 0;
    for (uint32_t n = 0; n < 3200; ++n) {
      const int16_t one = sample(round, n, &phase);
      bank.take(&one, 1);
      if (!bank.has_row()) continue;
      uint8_t row[bantam::kSoundBands];
      bank.row(row);
      hash.add(row, sizeof row);
    }
    if (round % 6 != 5) continue;
    bantam::test::put_hex(hash.value());
    put("\n");
  }
}

/// Reads a byte in hexadecimal; returns -1 at the end of the line.
int get_byte() {
  int byte = 0;
  for (int digit = 0; digit < 2; ++digit) {
    const int c = bantam::test::get();
    if (c >= '0' && c <= '9') {
      byte = byte * 16 + c - '0';
    } else if (c >= 'a' && c <= 'f') {
      byte = byte * 16 + c - 'a' + 10;
    } else {
      return -1;
    }
  }
  return byte;
}

void rows() {
  bank.clear();
  for (int low = get_byte(); low >= 0; low = get_byte()) {
    const int high = get_byte();
    if (high < 0) return;
    const auto one = static_cast<int16_t>(static_cast<uint16_t>(high << 8 | low));
    bank.take(&one, 1);
    if (!bank.has_row()) continue;
    uint8_t row[bantam::kSoundBands];
    bank.row(row);
    for (const uint8_t value : row) {
      put(&"0123456789abcdef"[value >> 4], 1);
      put(&"0123456789abcdef"[value & 15], 1);
    }
    put("\n");
  }
}

#if defined(BANTAM_FIRMWARE)
void instructions() {
  state = 1;
  bank.clear();
  for (uint32_t n = 0; n < bantam::kSoundWindow; ++n) {
    const auto one = static_cast<int16_t>(draw(65536) - 32768);
    bank.take(&one, 1);
  }
  uint8_t row[bantam::kSoundBands];
  const uint32_t before = board_ticks();
  bank.row(row);
  bantam::test::put_number((board_ticks() - before) * (1000000000u / board_ticks_per_second()));
  put(" instructions a row\n");
}
#endif

}  // namespace

int main() {
  for (int order = bantam::test::get(); order >= 0; order = bantam::test::get()) {
    if (order == 'h') hashes();
    if (order == 'r') rows();
#if defined(BANTAM_FIRMWARE)
    if (order == 't') instructions();
#endif
  }
  return 0;
}
