#include "source/packed_blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "base/strings.h"
#include "source/quantization.h"

namespace bantam::convert {
namespace {

constexpr uint64_t kBlock = 32, kBlockBytes = 16;
constexpr size_t kExperts = 0, kRows = 1, kGroups = 2, kAxes = 3;  // axes of NAME_scales
/// Values of E2M1: a sign, two bits of the exponent and one of the mantissa.
constexpr std::array<float, 16> kValues = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.0F, -0.5F, -1, -1.5F, -2, -3, -4, -6};
constexpr const char *kBlocksEnd = "_blocks", *kScalesEnd = "_scales";

/// Returns call(); its error gets the names of the file and the tensor.
template <typename Call>
auto named(const WeightFile& file, const std::string& tensor, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.code() != ExitCode::kInvalid) throw;
    throw Error(ExitCode::kInvalid, fmt::format("{}: tensor \"{}\": {}", file.path().string(), tensor, error.what()));
  }
}

/// All values of a pair of tensors as one row, which is unpacked as a whole.
class PackedTensor : public RowSource {
 public:
  PackedTensor(std::string name, StoredTensor tensor, std::shared_ptr<const WeightFile> blocks,
               std::shared_ptr<const WeightFile> scales)
      : name_(std::move(name)), tensor_(std::move(tensor)), blocks_(std::move(blocks)), scales_(std::move(scales)) {}
  size_t rows() const override { return 1; }
  size_t columns() const override { return in_memory(tensor_.elements); }
  void read(size_t /*first*/, size_t count, float* out) const override {
    if (count == 0) return;
    named(*blocks_, name_, [&] {
      unpack_blocks(tensor_, blocks_->read_bytes(name_ + kBlocksEnd), scales_->read_bytes(name_ + kScalesEnd), out);
    });
  }

 private:
  std::string name_;
  StoredTensor tensor_;
  std::shared_ptr<const WeightFile> blocks_, scales_;
};

}  // namespace

bool has_packed_blocks(const Json& config) { return quantization_method(config) == "mxfp4"; }

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

void unpack_blocks(const StoredTensor& tensor, const std::string& blocks, const std::string& scales, float* out) {
  const size_t experts = in_memory(tensor.shape[0]), columns = in_memory(tensor.shape[1]),
               rows = in_memory(tensor.shape[2]), groups = columns / kBlock;
  for (size_t expert = 0; expert < experts; ++expert) {
    float* matrix = out + expert * rows * columns;  // [columns, rows]
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
}

void join_packed_blocks(Checkpoint* checkpoint) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : checkpoint->tensors()) {
    if (ends_with(name, kBlocksEnd)) names.push_back(name.substr(0, name.size() - std::string(kBlocksEnd).size()));
  }
  for (const std::string& name : names) {
    const auto& tensors = checkpoint->tensors();
    const auto blocks = tensors.find(name + kBlocksEnd), scales = tensors.find(name + kScalesEnd);
    if (scales == tensors.end()) continue;
    const auto file_of = [&](const Checkpoint::Entry& entry) { return checkpoint->files()[entry.file]; };
    const std::shared_ptr<const WeightFile> file = file_of(blocks->second);
    const StoredTensor tensor =
        named(*file, blocks->first, [&] { return describe_packed(*blocks->second.stored, *scales->second.stored); });
    checkpoint->put(name, std::make_shared<PackedTensor>(name, tensor, file, file_of(scales->second)), tensor,
                    blocks->second.file);
    checkpoint->leave_out(name + kBlocksEnd);
    checkpoint->leave_out(name + kScalesEnd);
  }
}

}  // namespace bantam::convert
