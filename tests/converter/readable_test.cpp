// Sizes as text, and text as sizes.
#include "base/readable.h"

#include <gtest/gtest.h>

namespace bantam::convert {
namespace {

TEST(Bytes, AreReadInPowersOfTen) {
  EXPECT_EQ(readable_bytes(0), "0 B");
  EXPECT_EQ(readable_bytes(999), "999 B");
  EXPECT_EQ(readable_bytes(1000), "1.0 kB");
  EXPECT_EQ(readable_bytes(24095393), "24.1 MB");
  EXPECT_EQ(readable_bytes(999949), "999.9 kB");
  EXPECT_EQ(readable_bytes(999950), "1.0 MB");
  EXPECT_EQ(readable_bytes(2147483648), "2.1 GB");
}

TEST(Bytes, UnitsMeanWhatTheySay) {
  EXPECT_EQ(parse_bytes("16MB"), 16000000u);
  EXPECT_EQ(parse_bytes("16 MB"), 16000000u);
  EXPECT_EQ(parse_bytes("16MiB"), 16777216u);
  EXPECT_EQ(parse_bytes("2GiB"), 2147483648u);
  EXPECT_EQ(parse_bytes("1.5kB"), 1500u);
  EXPECT_EQ(parse_bytes("10KB"), 10000u);
  EXPECT_EQ(parse_bytes("1KiB"), 1024u);
  EXPECT_EQ(parse_bytes("812"), 812u);
  for (const char* word : {"", "MB", "-3", "0", "0.5", "8XB", "8MBs", "nan", "inf", "1e30", "8mb", "  8"})
    EXPECT_FALSE(parse_bytes(word).has_value()) << word;
}

}  // namespace
}  // namespace bantam::convert
