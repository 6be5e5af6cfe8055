// Matrices of four-bit floats in blocks (MXFP4), against values from the format's own fields.
#include "source/packed_blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "converter/import_fixture.h"
#include "source/checkpoint.h"
#include "source/safetensors.h"

namespace bantam::convert::fixture {
namespace {

void expect_in(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
}

/// E2M1: the sign bit, two bits of the exponent (bias 1, subnormals at 0) and one of the mantissa.
double element(uint32_t code) {
  const uint32_t exponent = code >> 1 & 3U, mantissa = code & 1U;
  const double size = exponent == 0 ? mantissa * 0.5 : (1 + mantissa * 0.5) * std::pow(2.0, exponent - 1.0);
  return (code & 8U) != 0 ? -size : size;
}

StoredTensor stored(std::vector<uint64_t> shape, const char* dtype = "U8") {
  StoredTensor out;
  out.dtype = dtype;
  out.elements = 1;
  for (const uint64_t extent : shape) out.elements *= extent;
  out.shape = std::move(shape);
  out.size = out.elements;
  return out;
}

std::vector<float> unpacked(const StoredTensor& tensor, const std::string& blocks, const std::string& scales) {
  std::vector<float> out(tensor.elements);
  unpack_blocks(tensor, blocks, scales, out.data());
  return out;
}

TEST(PackedBlocks, EveryCodeOfEveryScaleIsItsValue) {
  const StoredTensor tensor = describe_packed(stored({1, 1, 1, 16}), stored({1, 1, 1}));
  EXPECT_EQ(tensor.shape, (std::vector<uint64_t>{1, 32, 1}));
  EXPECT_EQ(tensor.elements, 32U);
  std::string bytes;
  for (uint32_t i = 0; i < 16; ++i) bytes += static_cast<char>(i | (15 - i) << 4);
  for (uint32_t scale = 0; scale < 253; ++scale) {
    const std::vector<float> values = unpacked(tensor, bytes, std::string(1, static_cast<char>(scale)));
    for (uint32_t i = 0; i < 32; ++i) {
      const double expected = element(i % 2 == 0 ? i / 2 : 15 - i / 2) * std::pow(2.0, scale - 127.0);
      EXPECT_EQ(static_cast<double>(values[i]), expected) << scale << " " << i;
    }
  }
}

/// Columns come before rows, as transformers unpacks these files.
TEST(PackedBlocks, LieExpertByExpertAndColumnByColumn) {
  const uint64_t experts = 2, rows = 3, groups = 2;
  const StoredTensor tensor = describe_packed(stored({experts, rows, groups, 16}), stored({experts, rows, groups}));
  EXPECT_EQ(tensor.shape, (std::vector<uint64_t>{experts, 64, rows}));
  std::string blocks, scales;
  for (uint64_t block = 0; block < experts * rows * groups; ++block) {
    scales += static_cast<char>(120 + block);
    for (uint64_t i = 0; i < 16; ++i) blocks += static_cast<char>(block * 37 + i * 11);
  }
  const std::vector<float> values = unpacked(tensor, blocks, scales);
  for (uint64_t e = 0; e < experts; ++e) {
    for (uint64_t row = 0; row < rows; ++row) {
      for (uint64_t column = 0; column < 64; ++column) {
        const uint64_t block = (e * rows + row) * groups + column / 32, i = column % 32;
        const auto both = static_cast<uint8_t>(block * 37 + i / 2 * 11);
        const double expected =
            element(i % 2 == 0 ? both % 16 : both / 16) * std::pow(2.0, static_cast<double>(block) - 7);
        EXPECT_EQ(static_cast<double>(values[(e * 64 + column) * rows + row]), expected) << e << row << column;
      }
    }
  }
}

TEST(PackedBlocks, ThatHoldNoNumbersAreRefused) {
  const StoredTensor tensor = describe_packed(stored({1, 1, 1, 16}), stored({1, 1, 1}));
  const auto refusal = [&](char scale) {
    return problems_of(ExitCode::kInvalid, [&] { unpacked(tensor, std::string(16, '\x77'), std::string(1, scale)); });
  };
  expect_in(refusal('\xFF'), {"block 0 of row 0 of expert 0", "not a finite number"});
  expect_in(refusal('\xFE'), {"block 0 of row 0 of expert 0", "not a finite number"});  // 6 * 2^127
  EXPECT_EQ(unpacked(tensor, std::string(16, '\x22'), std::string(1, '\xFE'))[0], std::ldexp(1.0F, 127));
}

TEST(PackedBlocks, OfOtherShapesAreRefused) {
  const auto refusal = [](const StoredTensor& blocks, const StoredTensor& scales) {
    return problems_of(ExitCode::kInvalid, [&] { describe_packed(blocks, scales); });
  };
  const char* const what = "does not hold blocks of 16 bytes for the scales";
  expect_in(refusal(stored({1, 2, 3, 15}), stored({1, 2, 3})), {"U8 [1, 2, 3, 15]", what, "U8 [1, 2, 3]"});
  expect_in(refusal(stored({1, 2, 4, 16}), stored({1, 2, 3})), {what});
  expect_in(refusal(stored({2, 3, 16}), stored({2, 3})), {what});
  expect_in(refusal(stored({1, 2, 3, 16}, "I8"), stored({1, 2, 3})), {"I8", what});
  expect_in(refusal(stored({1, 2, 3, 16}), stored({1, 2, 3}, "F8_E8M0")), {"F8_E8M0"});
  const uint64_t most = std::numeric_limits<uint64_t>::max() / 16;
  StoredTensor blocks = stored({1, 1, most, 16}), scales = stored({1, 1, most});
  expect_in(refusal(blocks, scales), {"overflows"});
}

/// A checkpoint shows a pair as one tensor; a lone one stays.
TEST(PackedBlocks, OfACheckpointAreOneTensor) {
  TensorMap tensors;
  tensors["a.up_blocks"] = {"U8", {1, 1, 1, 16}, std::vector<uint8_t>(16, 0x72)};
  tensors["a.up_scales"] = {"U8", {1, 1, 1}, {128}};
  tensors["b_blocks"] = {"U8", {1}, {1}};
  const Directory directory;
  directory.write("model.safetensors", safetensors_bytes(tensors));
  Checkpoint checkpoint(std::make_unique<Safetensors>(directory.path() / "model.safetensors"));
  join_packed_blocks(&checkpoint);
  ASSERT_EQ(checkpoint.tensors().size(), 2U);
  EXPECT_EQ(checkpoint.tensors().count("b_blocks"), 1U);
  const std::vector<float> values = checkpoint.read("a.up");
  ASSERT_EQ(values.size(), 32U);
  EXPECT_EQ(values[0], 2);
  EXPECT_EQ(values[1], 12);
  EXPECT_EQ(checkpoint.rows("a.up", 1), nullptr);
}

TEST(PackedBlocks, OfACheckpointAreRefusedByName) {
  TensorMap tensors;
  tensors["up_blocks"] = {"U8", {1, 1, 16}, std::vector<uint8_t>(16)};
  tensors["up_scales"] = {"U8", {1, 1}, {128}};
  tensors["down_blocks"] = {"U8", {1, 1, 1, 16}, std::vector<uint8_t>(16)};
  tensors["down_scales"] = {"U8", {1, 1, 1}, {255}};
  const Directory directory;
  directory.write("model.safetensors", safetensors_bytes(tensors));
  const auto open = [&] { return std::make_unique<Safetensors>(directory.path() / "model.safetensors"); };
  Checkpoint checkpoint(open());
  expect_in(problems_of(ExitCode::kInvalid, [&] { join_packed_blocks(&checkpoint); }),
            {"model.safetensors", "\"up_blocks\""});
  tensors.erase("up_blocks");
  directory.write("model.safetensors", safetensors_bytes(tensors));
  Checkpoint other(open());
  join_packed_blocks(&other);
  expect_in(problems_of(ExitCode::kInvalid, [&] { other.read("down"); }), {"model.safetensors", "\"down\"", "block 0"});
}

}  // namespace
}  // namespace bantam::convert::fixture
