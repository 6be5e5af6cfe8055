// Dequantizes blocks of integers as ggml stores them (ggml-quants.c and ggml-common.h of
// https://github.com/ggml-org/ggml). Factors are f16; the lower four bits of each byte hold the first half of the
// elements.
#include "source/gguf/gguf_blocks.h"

#include <array>
#include <cstring>

#include "base/float_bits.h"

namespace bantam::convert {
namespace {

using Bytes = const unsigned char*;
constexpr size_t kSmall = 32, kLarge = 256;

float half(Bytes at) {
  uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return float_from_f16(bits);
}
uint32_t bits32(Bytes at) {
  uint32_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}
int signed_byte(unsigned char byte) { return byte < 128 ? byte : int{byte} - 256; }
/// Element i of 32 4-bit elements.
int nibble(Bytes at, size_t i) { return i < kSmall / 2 ? at[i] & 15 : at[i - kSmall / 2] >> 4; }

void q4_0(Bytes in, float* out) {
  for (size_t i = 0; i < kSmall; ++i) out[i] = half(in) * static_cast<float>(nibble(in + 2, i) - 8);
}

void q4_1(Bytes in, float* out) {
  for (size_t i = 0; i < kSmall; ++i) out[i] = half(in) * static_cast<float>(nibble(in + 4, i)) + half(in + 2);
}

/// The fifth bits of the elements are in the 32 bits before the nibbles.
void q5_0(Bytes in, float* out) {
  const uint32_t high = bits32(in + 2);
  for (size_t i = 0; i < kSmall; ++i) {
    const int value = nibble(in + 6, i) + static_cast<int>((high >> i & 1) << 4);
    out[i] = half(in) * static_cast<float>(value - 16);
  }
}

void q5_1(Bytes in, float* out) {
  const uint32_t high = bits32(in + 4);
  for (size_t i = 0; i < kSmall; ++i) {
    const int value = nibble(in + 8, i) + static_cast<int>((high >> i & 1) << 4);
    out[i] = half(in) * static_cast<float>(value) + half(in + 2);
  }
}

void q8_0(Bytes in, float* out) {
  for (size_t i = 0; i < kSmall; ++i) out[i] = half(in) * static_cast<float>(signed_byte(in[2 + i]));
}

/// 16 pairs of 4-bit factors and minima, for 16 elements each; 2-bit elements.
void q2_k(Bytes in, float* out) {
  const Bytes scales = in, bits = in + 16;
  const float factor = half(in + 80), least = half(in + 82);
  for (size_t i = 0; i < kLarge; ++i) {
    const size_t part = i / 128, row = i % 128 / 32, column = i % 32;
    const int value = bits[part * 32 + column] >> (2 * row) & 3;
    const int scale = scales[i / 16];
    out[i] =
        factor * static_cast<float>(scale & 15) * static_cast<float>(value) - least * static_cast<float>(scale >> 4);
  }
}

/// 16 factors of 6 bits; 2-bit elements, whose third bits come first.
void q3_k(Bytes in, float* out) {
  const Bytes high = in, bits = in + 32, packed = in + 96;
  const float factor = half(in + 108);
  for (size_t i = 0; i < kLarge; ++i) {
    const size_t group = i / 16, part = i / 128, row = i % 128 / 32, column = i % 32;
    const int low = group < 8 ? packed[group] & 15 : packed[group - 8] >> 4;
    const int scale = (low | (packed[8 + group % 4] >> (2 * (group / 4)) & 3) << 4) - 32;
    const int third = high[column] >> (part * 4 + row) & 1;
    const int value = (bits[part * 32 + column] >> (2 * row) & 3) - (third != 0 ? 0 : 4);
    out[i] = factor * static_cast<float>(scale) * static_cast<float>(value);
  }
}

/// Unpacks one of eight pairs of a factor and a minimum, of 6 bits each, from 12 bytes; each applies to 32 elements.
void factor_and_least(Bytes packed, size_t group, int* factor, int* least) {
  if (group < 4) {
    *factor = packed[group] & 63;
    *least = packed[group + 4] & 63;
  } else {
    *factor = (packed[group + 4] & 15) | (packed[group - 4] >> 6) << 4;
    *least = packed[group + 4] >> 4 | (packed[group] >> 6) << 4;
  }
}

/// `high`: the bytes with the fifth bits of the elements; null: none.
void q45_k(Bytes in, Bytes high, Bytes nibbles, float* out) {
  const float factor = half(in), least = half(in + 2);
  for (size_t group = 0; group < kLarge / 32; ++group) {
    int own = 0, own_least = 0;
    factor_and_least(in + 4, group, &own, &own_least);
    const float times = factor * static_cast<float>(own), minus = least * static_cast<float>(own_least);
    for (size_t i = 0; i < 32; ++i) {
      const int byte = nibbles[group / 2 * 32 + i];
      int value = group % 2 == 0 ? byte & 15 : byte >> 4;
      if (high != nullptr) value += (high[i] >> group & 1) << 4;
      out[group * 32 + i] = times * static_cast<float>(value) - minus;
    }
  }
}
void q4_k(Bytes in, float* out) { q45_k(in, nullptr, in + 16, out); }
void q5_k(Bytes in, float* out) { q45_k(in, in + 16, in + 48, out); }

/// 16 factors of 8 bits; 6-bit elements, with four bits in `low` and two in `high`.
void q6_k(Bytes in, float* out) {
  const Bytes low = in, high = in + 128, scales = in + 192;
  const float factor = half(in + 208);
  for (size_t i = 0; i < kLarge; ++i) {
    const size_t part = i / 128, row = i % 128 / 32, column = i % 32;
    const int byte = low[part * 64 + row % 2 * 32 + column];
    const int upper = high[part * 32 + column] >> (2 * row) & 3;
    const int value = ((row < 2 ? byte & 15 : byte >> 4) | upper << 4) - 32;
    out[i] = factor * static_cast<float>(signed_byte(scales[i / 16])) * static_cast<float>(value);
  }
}

constexpr std::array<int8_t, 16> kUneven = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

void iq4_nl(Bytes in, float* out) {
  for (size_t i = 0; i < kSmall; ++i) {
    out[i] = half(in) * static_cast<float>(kUneven[static_cast<size_t>(nibble(in + 2, i))]);
  }
}

void iq4_xs(Bytes in, float* out) {
  for (size_t group = 0; group < kLarge / 32; ++group) {
    const int low = in[4 + group / 2] >> (4 * (group % 2)) & 15, byte = in[2 + group / 4];
    const int scale = (low | (byte >> (2 * (group % 4)) & 3) << 4) - 32;
    const float times = half(in) * static_cast<float>(scale);
    for (size_t i = 0; i < 32; ++i) {
      out[group * 32 + i] = times * static_cast<float>(kUneven[static_cast<size_t>(nibble(in + 8 + group * 16, i))]);
    }
  }
}

/// A power of two (stored as its exponent plus 127) times numbers with one sign bit, two exponent bits and one fraction
/// bit.
void mxfp4(Bytes in, float* out) {
  constexpr std::array<int8_t, 16> kTwice = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  // Half of the factor, because kTwice holds doubled numbers: 2^(e - 128), which is subnormal if e is 0 or 1.
  const uint32_t exponent = in[0];
  const float factor = float_from_bits(exponent < 2 ? 0x200000U << exponent : (exponent - 1) << 23);
  for (size_t i = 0; i < kSmall; ++i)
    out[i] = factor * static_cast<float>(kTwice[static_cast<size_t>(nibble(in + 1, i))]);
}

struct Reader {
  uint32_t number;
  void (*read)(Bytes in, float* out);
};
constexpr Reader kReaders[] = {{2, q4_0},  {3, q4_1},  {6, q5_0},  {7, q5_1},    {8, q8_0},    {10, q2_k}, {11, q3_k},
                               {12, q4_k}, {13, q5_k}, {14, q6_k}, {20, iq4_nl}, {23, iq4_xs}, {39, mxfp4}};

const Reader* reader_of(uint32_t number) {
  for (const Reader& reader : kReaders) {
    if (reader.number == number) return &reader;
  }
  return nullptr;
}

}  // namespace

bool reads_blocks(uint32_t number) { return reader_of(number) != nullptr; }

void read_block(uint32_t number, const char* block, float* out) {
  reader_of(number)->read(reinterpret_cast<Bytes>(block), out);
}

}  // namespace bantam::convert
