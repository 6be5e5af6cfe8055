#include "source/packed_blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "base/error.h"
#include "base/size.h"

namespace bantam::convert {
namespace {

constexpr uint64_t kBlock = 32, kBlockBytes = 16;
constexpr size_t kExperts = 0, kRows = 1, kGroups = 2, kAxes = 3;  // axes of NAME_scales
/// Values of E2M1: a sign, two bits of the exponent and one of the mantissa.
constexpr std::array<float, 16> kValues = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.0F, -0.5F, -1, -1.5F, -2, -3, -4, -6};

}  // namespace

bool has_packed_blocks(const Json& config) {
  const auto settings = config.find("quantization_config");
  if (settings == config.end() || !settings->is_object()) return false;
  const auto method = settings->find("quant_method");
  return method != settings->end() && *method == "mxfp4";
}

StoredTensor describe_packed(const StoredTensor& blocks, const StoredTensor& scales) {
  std::vector<uint64_t> expected = scales.shape;
  expected.push_back(kBlockBytes);
  if (scales.shape.size() != kAxes || blocks.shape != expected || blocks.dtype != "U8" || scales.dtype != "U8") {
    throw Error(ExitCode::kInvalid,
                fmt::format("{} [{}] does not hold blocks of 16 bytes for the scales {} [{}]", blocks.dtype,
                            fmt::join(blocks.shape, ", "), scales.dtype, fmt::join(scales.shape, ", ")));
  }
  StoredTensor out;
  out.dtype = "BF16";  // which holds every value exactly
  out.size = blocks.size;
  uint64_t columns = 0;
  if (!multiply(scales.shape[kGroups], kBlock, &columns) || !multiply(blocks.elements, 2, &out.elements)) {
    throw Error(ExitCode::kInvalid, "its shape overflows");
  }
  out.shape = {scales.shape[kExperts], columns, scales.shape[kRows]};
  return out;
}

std::vector<float> unpack_blocks(const StoredTensor& tensor, const std::string& blocks, const std::string& scales) {
  const size_t experts = in_memory(tensor.shape[0]), columns = in_memory(tensor.shape[1]),
               rows = in_memory(tensor.shape[2]), groups = columns / kBlock;
  std::vector<float> out(in_memory(tensor.elements, sizeof(float)));
  for (size_t expert = 0; expert < experts; ++expert) {
    float* matrix = out.data() + expert * rows * columns;  // [columns, rows]
    for (size_t group = 0; group < groups; ++group) {
      for (size_t row = 0; row < rows; ++row) {
        const size_t block = (expert * rows + row) * groups + group;
        const auto scale = static_cast<uint8_t>(scales[block]);
        for (size_t i = 0; i < kBlock; ++i) {
          const auto both = static_cast<uint8_t>(blocks[block * kBlockBytes + i / 2]);
          const float value = std::ldexp(kValues[i % 2 == 0 ? both & 15U : both >> 4U], int{scale} - 127);
          if (scale == 255 || !std::isfinite(value)) {
            throw Error(ExitCode::kInvalid,
                        fmt::format("block {} of row {} of expert {} holds a value that is not a finite number; the "
                                    "file is damaged",
                                    group, row, expert));
          }
          matrix[(group * kBlock + i) * rows + row] = value;
        }
      }
    }
  }
  return out;
}

}  // namespace bantam::convert
