// Remainders of polynomials over GF(2), least significant bit first: bit 31 of a word is the coefficient of x^0. A
// single stream waits for the latency of each step, so three adjacent blocks are processed side by side; a
// multiplication shifts their remainders to their places: crc(A B) = crc(A) * x^bits(B) + crc(B).
#include "format/crc32c.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace bantam {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78u;
/// Bytes of one of the three blocks: long enough that combining them costs 2 %, short enough for L2.
constexpr uint64_t kBlock = 16384;

/// a * x
constexpr uint32_t shifted(uint32_t a) { return (a >> 1) ^ (kPolynomial & (0u - (a & 1u))); }

/// a * b
constexpr uint32_t product(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t bit = 32; bit-- > 0; b = shifted(b)) sum ^= b & (0u - ((a >> bit) & 1u));
  return sum;
}

/// x^(8 * bytes), bytes a power of two.
constexpr uint32_t power(uint64_t bytes) {
  uint32_t result = 0x00800000u;  // x^8
  for (; bytes > 1; bytes /= 2) result = product(result, result);
  return result;
}

constexpr uint32_t kOneBlock = power(kBlock);
constexpr uint32_t kTwoBlocks = power(2 * kBlock);

/// of[i][b]: the remainder of byte b followed by i zero bytes.
struct Tables {
  uint32_t of[8][256] = {};
  constexpr Tables() {
    for (uint32_t b = 0; b < 256; ++b) {
      uint32_t r = b;
      for (int bit = 0; bit < 8; ++bit) r = shifted(r);
      of[0][b] = r;
    }
    for (uint32_t i = 1; i < 8; ++i) {
      for (uint32_t b = 0; b < 256; ++b) of[i][b] = (of[i - 1][b] >> 8) ^ of[0][of[i - 1][b] & 0xFFu];
    }
  }
};
constexpr Tables kTables;

/// One step of the remainder, kept in 64 bits so that no step waits for a zero extension from 32 bits.
struct Portable {
  static uint64_t byte(uint64_t crc, uint8_t value) { return (crc >> 8) ^ kTables.of[0][(crc ^ value) & 0xFFu]; }
  static uint64_t word(uint64_t crc, uint64_t value) {
    value ^= crc;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 8; ++i) sum ^= kTables.of[7 - i][(value >> (8 * i)) & 0xFFu];
    return sum;
  }
};

#if defined(__x86_64__)
/// SSE 4.2. Uses assembly, because intrinsics would require compiling this file for machines that have it.
struct Instruction {
  static uint64_t byte(uint64_t crc, uint8_t value) {
    __asm__("crc32b %1, %0" : "+r"(crc) : "rm"(value));
    return crc;
  }
  static uint64_t word(uint64_t crc, uint64_t value) {
    __asm__("crc32q %1, %0" : "+r"(crc) : "rm"(value));
    return crc;
  }
  static bool available() {
    uint32_t a = 0;
    uint32_t b = 0;
    uint32_t c = 0;
    uint32_t d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_2) != 0;
  }
};
#endif

/// Loads a little-endian word. Written out, because gcc 12 would vectorize a loop into eight loads.
uint64_t load(const uint8_t* at) {
  return uint64_t{at[0]} | uint64_t{at[1]} << 8 | uint64_t{at[2]} << 16 | uint64_t{at[3]} << 24 |
         uint64_t{at[4]} << 32 | uint64_t{at[5]} << 40 | uint64_t{at[6]} << 48 | uint64_t{at[7]} << 56;
}

template <typename Step>
uint32_t checksum(const uint8_t* bytes, uint64_t size, uint32_t crc) {
  uint64_t first = ~crc;
  for (; size >= 3 * kBlock; bytes += 3 * kBlock, size -= 3 * kBlock) {
    uint64_t second = 0;
    uint64_t third = 0;
    for (uint64_t i = 0; i < kBlock; i += 8) {
      first = Step::word(first, load(bytes + i));
      second = Step::word(second, load(bytes + kBlock + i));
      third = Step::word(third, load(bytes + 2 * kBlock + i));
    }
    first =
        product(static_cast<uint32_t>(first), kTwoBlocks) ^ product(static_cast<uint32_t>(second), kOneBlock) ^ third;
  }
  for (; size >= 8; bytes += 8, size -= 8) first = Step::word(first, load(bytes));
  for (; size > 0; ++bytes, --size) first = Step::byte(first, *bytes);
  return ~static_cast<uint32_t>(first);
}

}  // namespace

uint32_t crc32c_portable(const uint8_t* bytes, uint64_t size, uint32_t crc) {
  return checksum<Portable>(bytes, size, crc);
}

uint32_t crc32c(const uint8_t* bytes, uint64_t size, uint32_t crc) {
#if defined(__x86_64__)
  if (Instruction::available()) return checksum<Instruction>(bytes, size, crc);
#endif
  return crc32c_portable(bytes, size, crc);
}

}  // namespace bantam
