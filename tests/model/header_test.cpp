#include "format/header.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "bantam/model.h"
#include "format/crc32c.h"
#include "tests/session/bert.h"

namespace bantam::testing::header_test {
namespace {

constexpr size_t kSize = 64 + 128 + 192;

TEST(Header, ReadsWhatItWrote) {
  FileHeader header;
  header.minor = 7;
  header.file_size = kSize;
  header.graph_offset = 64;
  header.graph_size = 100;
  header.data_offset = 192;
  header.data_size = 192;
  header.graph_crc = 0x12345678;
  header.data_crc = 0x9ABCDEF0;
  std::vector<uint8_t> bytes(kSize);
  write_header(header, bytes.data());
  FileHeader back;
  ASSERT_EQ(read_header(bytes.data(), bytes.size(), &back, nullptr), Status::kOk);
  EXPECT_EQ(back.minor, 7);
  EXPECT_EQ(back.graph_size, 100u);
  EXPECT_EQ(back.data_offset, 192u);
  EXPECT_EQ(back.data_size, 192u);
  EXPECT_EQ(back.graph_crc, 0x12345678u);
  EXPECT_EQ(back.data_crc, 0x9ABCDEF0u);
}

TEST(Header, ChecksumsCoverEveryBitButTheirOwn) {
  FileHeader header;
  header.graph_offset = 64;
  header.graph_size = 100;
  header.data_offset = 192;
  header.data_size = 150;
  header.file_size = kSize;  // gaps after both sections
  std::vector<uint8_t> bytes(kSize);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
  seal(header, bytes.data());
  ASSERT_EQ(read_header(bytes.data(), bytes.size(), &header, nullptr), Status::kOk);
  EXPECT_EQ(header.graph_crc, graph_checksum(header, bytes.data()));
  EXPECT_EQ(header.data_crc, data_checksum(header, bytes.data()));
  // The ranges that the schema states.
  std::vector<uint8_t> covered(bytes.begin(), bytes.begin() + 56);
  covered.insert(covered.end(), bytes.begin() + 64, bytes.begin() + 192);
  EXPECT_EQ(header.graph_crc, crc32c(covered.data(), covered.size()));
  EXPECT_EQ(header.data_crc, crc32c(bytes.data() + 192, 192));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (uint32_t bit = 0; bit < 8; ++bit) {
      bytes[i] = static_cast<uint8_t>(bytes[i] ^ (1u << bit));
      const bool same = graph_checksum(header, bytes.data()) == header.graph_crc &&
                        data_checksum(header, bytes.data()) == header.data_crc;
      EXPECT_EQ(same, i >= 56 && i < 64) << i;
      bytes[i] = static_cast<uint8_t>(bytes[i] ^ (1u << bit));
    }
  }
}

class OpenTest : public ::testing::Test {
 protected:
  OpenTest() : bytes_(build(random_bert({}, 2), WeightType::kI8).finish()) {}

  Status open(const std::vector<uint8_t>& bytes, Fault* fault = nullptr) {
    const FileBytes file(bytes);
    Model model;
    return Model::open(file.data(), file.size(), &model, fault);
  }
  Status open_with(size_t offset, uint64_t value, size_t size) {
    std::vector<uint8_t> bytes = bytes_;
    std::memcpy(bytes.data() + offset, &value, size);
    Fault fault;
    const Status status = open(bytes, &fault);
    EXPECT_EQ(status == Status::kOk, *fault.what == 0);
    return status;
  }

  std::vector<uint8_t> bytes_;
};

TEST_F(OpenTest, AGoodFileOpensAndTellsAboutItself) {
  const FileBytes file(bytes_);
  Model model;
  EXPECT_FALSE(model.is_open());
  ASSERT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  EXPECT_EQ(model.task(), TaskKind::kClassify);
  EXPECT_EQ(std::string(model.name().data, model.name().size), "random");
  EXPECT_EQ(model.licence().data, nullptr);
  EXPECT_EQ(model.max_sequence(), 96u);
  EXPECT_EQ(model.vocabulary(), 211u);
  EXPECT_EQ(model.segment_types(), 2u);
  EXPECT_EQ(model.output_count(), 2u);
  EXPECT_EQ(model.label_set_count(), 1u);
  EXPECT_EQ(model.label_count(0), 3u);
  EXPECT_EQ(std::string(model.label(0, 2).data, model.label(0, 2).size), "label2");
  EXPECT_EQ(model.label(0, 3).data, nullptr);
  EXPECT_EQ(model.label(1, 0).data, nullptr);
  EXPECT_FALSE(model.has_tokenizer());
}

TEST_F(OpenTest, BadArgumentsAndBytesThatAreNoModel) {
  Model model;
  EXPECT_EQ(Model::open(nullptr, 100, &model), Status::kInvalidArgument);
  const FileBytes file(bytes_);
  EXPECT_EQ(Model::open(file.data(), file.size(), nullptr), Status::kInvalidArgument);
  const FileBytes skewed(bytes_, 64, 8);
  EXPECT_EQ(Model::open(skewed.data(), skewed.size(), &model), Status::kMisaligned);
  EXPECT_EQ(Model::open(file.data(), 0, &model), Status::kNotAModel);
  EXPECT_EQ(open({'P', 'K', 3, 4}), Status::kNotAModel);
  EXPECT_EQ(open(std::vector<uint8_t>(4096, 0)), Status::kNotAModel);
  EXPECT_FALSE(model.is_open());
}

TEST_F(OpenTest, HeaderFieldsAreChecked) {
  EXPECT_EQ(open_with(0, 'X', 1), Status::kNotAModel);
  EXPECT_EQ(open_with(8, 2, 2), Status::kVersionTooNew);
  EXPECT_EQ(open_with(8, 0, 2), Status::kCorrupt);
  EXPECT_EQ(open_with(10, 9, 2), Status::kOk);  // a later minor version
  EXPECT_EQ(open_with(12, 128, 4), Status::kCorrupt);
  EXPECT_EQ(open_with(16, bytes_.size() + 1, 8), Status::kTruncated);
  EXPECT_EQ(open_with(16, bytes_.size() - 1, 8), Status::kCorrupt);
  EXPECT_EQ(open_with(24, 32, 8), Status::kCorrupt);
  EXPECT_EQ(open_with(24, 65, 8), Status::kCorrupt);
  EXPECT_EQ(open_with(24, 0xFFFFFFFFFFFFFFC0u, 8), Status::kCorrupt);
  EXPECT_EQ(open_with(32, 0xFFFFFFFFFFFFFFFFu, 8), Status::kCorrupt);
  EXPECT_EQ(open_with(32, 0, 8), Status::kCorrupt);
  EXPECT_EQ(open_with(32, 7, 8), Status::kCorrupt);
  EXPECT_EQ(open_with(40, 64, 8), Status::kCorrupt);
  EXPECT_EQ(open_with(40, 0xFFFFFFFFFFFFFFC0u, 8), Status::kCorrupt);
  EXPECT_EQ(open_with(48, 0xFFFFFFFFFFFFFFFFu, 8), Status::kCorrupt);
  EXPECT_EQ(open_with(48, 0, 8), Status::kCorrupt);  // blobs are now outside
  EXPECT_EQ(open_with(56, 0, 4), Status::kOk);       // only `bantam verify` checks the checksums
}

TEST_F(OpenTest, EveryTruncationIsRefused) {
  const FileBytes file(bytes_);
  for (size_t size = 0; size < bytes_.size(); size += size < 2048 ? 1 : 97) {
    // A buffer of exactly this size, so that a sanitizer detects any read beyond it.
    const FileBytes cut(std::vector<uint8_t>(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size)));
    Model model;
    const Status status = Model::open(cut.data(), cut.size(), &model);
    EXPECT_EQ(status, size < 8 ? Status::kNotAModel : Status::kTruncated) << size;
    EXPECT_FALSE(model.is_open());
  }
  std::vector<uint8_t> longer = bytes_;
  longer.resize(longer.size() + 64);
  EXPECT_EQ(open(longer), Status::kCorrupt);
}

TEST_F(OpenTest, ATruncatedFileThatClaimsToBeWholeIsRefused) {
  for (size_t size = 64; size + 64 < bytes_.size(); size += 61) {
    std::vector<uint8_t> cut(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size));
    const uint64_t claimed = size;
    std::memcpy(cut.data() + 16, &claimed, 8);
    EXPECT_EQ(open(cut), Status::kCorrupt) << size;
    // The same with sections shrunk to fit.
    uint64_t data_offset, graph_size;
    std::memcpy(&data_offset, cut.data() + 40, 8);
    std::memcpy(&graph_size, cut.data() + 32, 8);
    const uint64_t data_size = data_offset < size ? size - data_offset : 0;
    const uint64_t graph_left = std::min(graph_size, claimed - 64);
    const uint64_t new_offset = std::min(data_offset, claimed / 64 * 64);
    std::memcpy(cut.data() + 48, &data_size, 8);
    std::memcpy(cut.data() + 32, &graph_left, 8);
    std::memcpy(cut.data() + 40, &new_offset, 8);
    EXPECT_EQ(open(cut), Status::kCorrupt) << size;
  }
}

}  // namespace
}  // namespace bantam::testing::header_test
