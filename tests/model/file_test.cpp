// Checks that a device performs on a partition before it opens a file there: its length, and its checksums in slices.
#include "bantam/file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "format/header.h"
#include "tests/session/bert.h"

namespace bantam::testing::file_test {
namespace {

class FileTest : public ::testing::Test {
 protected:
  FileTest() : file_(build(random_bert(BertShape(), 3), WeightType::kI8).finish()) {
    bytes_.assign(file_.data(), file_.data() + file_.size());
  }

  /// Returns the status after a check in slices of `slice` bytes.
  Status check(size_t slice, size_t* calls = nullptr) const {
    FileCheck run;
    Status status = FileCheck::begin(bytes_.data(), bytes_.size(), &run);
    size_t count = 0;
    for (bool done = false; status == Status::kOk && !done; ++count) {
      const size_t before = run.checked();
      status = run.advance(slice, &done);
      EXPECT_LE(run.checked() - before, slice);
      EXPECT_EQ(done, status == Status::kOk && run.checked() == run.size());
    }
    if (calls != nullptr) *calls = count;
    return status;
  }

  const FileBytes file_;
  std::vector<uint8_t> bytes_;
};

TEST_F(FileTest, APartitionTellsHowLongItsFileIs) {
  const size_t size = bytes_.size();
  std::vector<uint8_t> partition(size + 4096, 0xFF);
  std::memcpy(partition.data(), bytes_.data(), size);
  size_t found = 1;
  EXPECT_EQ(file_bytes(partition.data(), partition.size(), &found), Status::kOk);
  EXPECT_EQ(found, size);
  EXPECT_EQ(file_bytes(partition.data(), size, &found), Status::kOk);
  for (const size_t room : {size - 1, size_t{64}}) {
    EXPECT_EQ(file_bytes(partition.data(), room, &found), Status::kTruncated);
    EXPECT_EQ(found, 0u);
  }
  EXPECT_EQ(file_bytes(partition.data(), 63, &found), Status::kTruncated);
  EXPECT_EQ(file_bytes(partition.data() + 64, 4096, &found), Status::kNotAModel);
  EXPECT_EQ(file_bytes(partition.data() + size, 4096, &found), Status::kNotAModel);  // erased
  EXPECT_EQ(file_bytes(nullptr, 4096, &found), Status::kInvalidArgument);
  EXPECT_EQ(file_bytes(partition.data(), size, nullptr), Status::kInvalidArgument);
  for (const uint64_t stated : {uint64_t{0}, uint64_t{63}, UINT64_MAX, uint64_t{1} << 32}) {
    std::memcpy(partition.data() + 16, &stated, sizeof stated);
    EXPECT_NE(file_bytes(partition.data(), partition.size(), &found), Status::kOk) << stated;
  }
}

TEST_F(FileTest, ChecksumsHoldInSlicesOfAnySize) {
  for (const size_t slice : {size_t{1}, size_t{7}, size_t{64}, size_t{1000}, bytes_.size(), SIZE_MAX}) {
    size_t calls = 0;
    EXPECT_EQ(check(slice, &calls), Status::kOk);
    EXPECT_EQ(calls, bytes_.size() / slice + (bytes_.size() % slice != 0 ? 1 : 0));
  }
}

TEST_F(FileTest, AChangedByteIsFoundWhereverItIs) {
  FileHeader header;
  ASSERT_EQ(read_header(bytes_.data(), bytes_.size(), &header, nullptr), Status::kOk);
  const size_t data = static_cast<size_t>(header.data_offset);
  for (const size_t at : {size_t{10}, size_t{56}, size_t{63}, size_t{64}, data - 1, data, bytes_.size() - 1}) {
    bytes_[at] ^= 4;
    for (const size_t slice : {size_t{5}, SIZE_MAX}) EXPECT_EQ(check(slice), Status::kCorrupt) << at;
    bytes_[at] ^= 4;
  }
  EXPECT_EQ(check(100), Status::kOk);
}

TEST_F(FileTest, WhatIsCorruptStaysSo) {
  bytes_[100] ^= 1;
  FileCheck run;
  bool done = true;
  ASSERT_EQ(FileCheck::begin(bytes_.data(), bytes_.size(), &run), Status::kOk);
  EXPECT_EQ(run.advance(SIZE_MAX, &done), Status::kCorrupt);
  EXPECT_FALSE(done);
  EXPECT_EQ(run.advance(0, &done), Status::kCorrupt);
}

TEST_F(FileTest, AFileWithoutDataHasAChecksumOfIt) {
  FileHeader header;
  header.graph_offset = 64;
  header.graph_size = 64;
  header.data_offset = 128;
  header.file_size = 128;
  bytes_.assign(128, 3);
  seal(header, bytes_.data());
  EXPECT_EQ(check(9), Status::kOk);
  bytes_[60] ^= 1;  // data_crc
  EXPECT_EQ(check(9), Status::kCorrupt);
}

TEST_F(FileTest, BadCallsGetAStatus) {
  FileCheck run;
  bool done = false;
  EXPECT_EQ(run.advance(1, &done), Status::kInvalidArgument);
  EXPECT_EQ(FileCheck::begin(nullptr, 64, &run), Status::kInvalidArgument);
  EXPECT_EQ(FileCheck::begin(bytes_.data(), bytes_.size(), nullptr), Status::kInvalidArgument);
  EXPECT_EQ(FileCheck::begin(bytes_.data(), bytes_.size() - 1, &run), Status::kTruncated);
  ASSERT_EQ(FileCheck::begin(bytes_.data(), bytes_.size(), &run), Status::kOk);
  EXPECT_EQ(run.advance(1, nullptr), Status::kInvalidArgument);
  EXPECT_EQ(run.advance(0, &done), Status::kOk);
  EXPECT_FALSE(done);
}

}  // namespace
}  // namespace bantam::testing::file_test
