// Compressed input: recognized by its first bytes, unpacked member by member, and refused where it is damaged.
#include "data/compressed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/error.h"

namespace bantam::convert {
namespace {

using namespace std::string_literals;

// "play jazz\n" as one member (RFC 1952).
constexpr std::array<unsigned char, 30> kMember = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                                   0x2b, 0xc8, 0x49, 0xac, 0x54, 0xc8, 0x4a, 0xac, 0xaa, 0xe2,
                                                   0x02, 0x00, 0xdb, 0xc5, 0xf2, 0xf1, 0x0a, 0x00, 0x00, 0x00};

std::string member() { return {reinterpret_cast<const char*>(kMember.data()), kMember.size()}; }

bool reads_gzip() {
  try {
    return compression_of("in", member()) == Compression::kGzip;
  } catch (const Error& error) {
    EXPECT_NE(error.problems().front().find("gzip -dc"), std::string::npos);
    return false;
  }
}

/// Unpacks `packed`, of which the first `start` bytes are read already and the others come `step` at a time.
std::string unpacked(const std::string& packed, size_t start, size_t step, size_t room) {
  size_t at = start;
  Gunzip gunzip("in.gz", packed.substr(0, start), [&](char* out, size_t size) {
    const size_t n = std::min({size, step, packed.size() - at});
    std::memcpy(out, packed.data() + at, n);
    at += n;
    return n;
  });
  std::string all;
  std::string part(room, '\0');
  for (size_t n = 0; (n = gunzip.read(part.data(), room)) != 0;) all.append(part, 0, n);
  return all;
}

std::string problem_of(const std::string& packed) {
  try {
    unpacked(packed, 3, 7, 100);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInvalid);
    return error.problems().front();
  }
  return "none";
}

TEST(Compressed, KindsByTheirFirstBytes) {
  EXPECT_EQ(compression_of("in", "play jazz"), Compression::kNone);
  EXPECT_EQ(compression_of("in", ""), Compression::kMaybe);
  for (const std::string& begin : {"\x1f"s, "("s, "P"s, "BZh9"s}) {
    EXPECT_EQ(compression_of("in", begin), Compression::kMaybe) << begin;
    EXPECT_EQ(compression_of("in", begin + "\n"), Compression::kNone) << begin;
  }
  try {
    compression_of("in", "\x28\xb5\x2f\xfd");
    ADD_FAILURE() << "zstd was not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnsupported);
    EXPECT_NE(error.problems().front().find("zstd -dc"), std::string::npos);
  }
}

TEST(Compressed, MembersInAnyPieces) {
  if (!reads_gzip()) GTEST_SKIP() << "built without zlib";
  const std::string text = "play jazz\n";
  for (const size_t start : {3U, 10U, 30U}) {
    for (const size_t step : {1U, 7U, 100U}) {
      for (const size_t room : {1U, 4U, 100U}) {
        EXPECT_EQ(unpacked(member(), start, step, room), text);
        EXPECT_EQ(unpacked(member() + member(), start, step, room), text + text);
        EXPECT_EQ(unpacked(member() + std::string(512, '\0'), start, step, room), text);
      }
    }
  }
}

TEST(Compressed, DamageIsAnError) {
  if (!reads_gzip()) GTEST_SKIP() << "built without zlib";
  for (size_t size = 3; size < kMember.size(); ++size) {
    EXPECT_NE(problem_of(member().substr(0, size)).find("ends in the middle"), std::string::npos) << size;
  }
  for (size_t at = kMember.size() - 8; at < kMember.size(); ++at) {
    std::string wrong = member();
    wrong[at] ^= 1;
    EXPECT_NE(problem_of(wrong).find("damaged"), std::string::npos) << at;
  }
  EXPECT_NE(problem_of(member() + "play").find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace bantam::convert
