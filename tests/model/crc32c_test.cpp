// The checksum: published values, and both implementations against the bitwise definition.
#include "format/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace bantam::testing::crc32c_test {
namespace {

/// RFC 3720's definition, one bit at a time.
uint32_t definition(const uint8_t* bytes, size_t size, uint32_t crc = 0) {
  crc = ~crc;
  for (size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0x82F63B78u : 0u);
  }
  return ~crc;
}

std::vector<uint8_t> random_bytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

class Crc32c : public ::testing::TestWithParam<uint32_t (*)(const uint8_t*, uint64_t, uint32_t)> {};

TEST_P(Crc32c, KnownValues) {
  const auto crc = GetParam();
  EXPECT_EQ(crc(reinterpret_cast<const uint8_t*>("123456789"), 9, 0), 0xE3069283u);
  EXPECT_EQ(crc(nullptr, 0, 0), 0u);
  // RFC 3720, appendix B.4.
  std::vector<uint8_t> bytes(32, 0);
  EXPECT_EQ(crc(bytes.data(), 32, 0), 0x8A9136AAu);
  bytes.assign(32, 0xFF);
  EXPECT_EQ(crc(bytes.data(), 32, 0), 0x62A8AB43u);
  for (uint8_t i = 0; i < 32; ++i) bytes[i] = i;
  EXPECT_EQ(crc(bytes.data(), 32, 0), 0x46DD794Eu);
}

TEST_P(Crc32c, EqualsTheDefinitionForEverySizePlaceAndSplit) {
  const auto crc = GetParam();
  const std::vector<uint8_t> bytes = random_bytes(200000, 1);
  for (size_t size = 0; size < 70; ++size) {
    for (size_t at = 0; at < 9; ++at) {
      EXPECT_EQ(crc(bytes.data() + at, size, 7), definition(bytes.data() + at, size, 7)) << size << " at " << at;
    }
  }
  // Around one and more iterations of the interleaved blocks.
  for (const size_t size : {49151u, 49152u, 49153u, 98304u, 147463u, 199990u}) {
    const uint32_t whole = definition(bytes.data() + 3, size);
    EXPECT_EQ(crc(bytes.data() + 3, size, 0), whole) << size;
    EXPECT_EQ(crc(bytes.data() + 3 + 1001, size - 1001, crc(bytes.data() + 3, 1001, 0)), whole) << size;
  }
}

TEST_P(Crc32c, AnyFlippedBitShows) {
  const auto crc = GetParam();
  std::vector<uint8_t> bytes = random_bytes(100000, 2);
  const uint32_t before = crc(bytes.data(), bytes.size(), 0);
  for (size_t i = 0; i < bytes.size(); i += 251) {
    bytes[i] = static_cast<uint8_t>(bytes[i] ^ (1u << (i % 8)));
    EXPECT_NE(crc(bytes.data(), bytes.size(), 0), before) << i;
    bytes[i] = static_cast<uint8_t>(bytes[i] ^ (1u << (i % 8)));
  }
}

INSTANTIATE_TEST_SUITE_P(Fastest, Crc32c, ::testing::Values(crc32c));
INSTANTIATE_TEST_SUITE_P(Portable, Crc32c, ::testing::Values(crc32c_portable));

}  // namespace
}  // namespace bantam::testing::crc32c_test
