#include "source/gguf/gguf_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/printable.h"

namespace bantam::convert {
namespace {

/// Rows (0, width / 2, 1, width / 2 + 1, ...) of each head in ascending order.
std::string in_order(const std::string& bytes, uint64_t rows, uint64_t heads) {
  const size_t row = bytes.size() / static_cast<size_t>(rows);
  const auto width = static_cast<size_t>(rows / heads), half = width / 2;
  std::string out(bytes.size(), '\0');
  for (size_t head = 0; head < heads; ++head) {
    for (size_t i = 0; i < width; ++i) {
      const size_t from = head * width + 2 * (i % half) + i / half, to = head * width + i;
      std::memcpy(out.data() + to * row, bytes.data() + from * row, row);
    }
  }
  return out;
}

/// The transpose of a matrix with `rows` rows.
std::string turned_bytes(const std::string& bytes, uint64_t rows, size_t element) {
  const auto height = static_cast<size_t>(rows);
  const size_t width = bytes.size() / element / height;
  std::string out(bytes.size(), '\0');
  for (size_t r = 0; r < height; ++r) {
    for (size_t c = 0; c < width; ++c) {
      std::memcpy(out.data() + (c * height + r) * element, bytes.data() + (r * width + c) * element, element);
    }
  }
  return out;
}

template <typename T>
std::string as_bytes(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

void check_types(const GgufFile& file) {
  std::map<std::string, size_t> refused;
  for (const auto& entry : file.tensors()) {
    const GgufType& type = *entry.second.type;
    if (!is_plain(type) && !is_blocks(type)) ++refused[type.name];
  }
  if (refused.empty()) return;
  std::vector<std::string> names;
  names.reserve(refused.size());
  for (const auto& [name, count] : refused) names.push_back(fmt::format("{} ({})", name, count));
  fail(ExitCode::kUnsupported,
       "{}: holds tensors of types {}; F32, F16, BF16, Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS and MXFP4 are "
       "supported: take the file of one of these, or "
       "write it: llama-quantize --allow-requantize IN OUT Q8_0",
       file.path().string(), fmt::join(names, ", "));
}

}  // namespace

GgufWeights::GgufWeights(std::shared_ptr<const GgufFile> file, const GgufModel& model)
    : WeightFile(file->path()), file_(std::move(file)) {
  check_types(*file_);
  const std::string prefix = std::string(model.architecture) + ".attention.head_count";
  const int64_t heads = file_->count(prefix, 0), key_heads = file_->count(prefix + "_kv", heads);
  for (const auto& [name, tensor] : file_->tensors()) {
    const auto [made, change] = gguf_tensor_name(model, name);
    Origin origin{&tensor, change, 0};
    StoredTensor stored;
    const bool kept = is_plain(*tensor.type) && change != GgufChange::kMoreOne;
    stored.dtype = kept ? tensor.type->name : "F32";
    stored.shape = tensor.shape;
    stored.elements = tensor.elements;
    stored.begin = tensor.begin;
    stored.size = tensor.size;
    if (stored.dtype != tensor.type->name && !multiply(tensor.elements, sizeof(float), &stored.size)) {
      throw std::bad_alloc();
    }
    if (change == GgufChange::kHeads || change == GgufChange::kKeyHeads) {
      origin.heads = static_cast<uint64_t>(change == GgufChange::kHeads ? heads : key_heads);
      const uint64_t rows = tensor.shape.front();
      if (origin.heads == 0 || rows % origin.heads != 0 || rows / origin.heads % 2 != 0) {
        fail(ExitCode::kInvalid, "{}: tensor \"{}\": its {} rows are not those of {} heads of an even number of rows",
             path_.string(), printable(name), rows, origin.heads);
      }
    } else if (change == GgufChange::kTurned && tensor.shape.size() == 2) {
      std::swap(stored.shape[0], stored.shape[1]);
    }
    if (!tensors_.emplace(made, std::move(stored)).second) {
      fail(ExitCode::kInvalid,
           "{}: tensor \"{}\": another one stands for the same; is this a file that a converter wrote?", path_.string(),
           printable(name));
    }
    origins_[made] = origin;
  }
}

std::string GgufWeights::read_bytes(const std::string& name) const {
  const Origin& origin = origins_.at(name);
  const GgufTensor& tensor = *origin.tensor;
  std::string bytes = file_->read(tensor);
  // Rows consist of whole blocks, so that they can be reordered as bytes.
  if (origin.heads != 0) bytes = in_order(bytes, tensor.shape.front(), origin.heads);
  const bool blocks = is_blocks(*tensor.type), less = origin.change == GgufChange::kMoreOne;
  if (blocks || less) {
    std::vector<float> values = gguf_values(*tensor.type, bytes);
    for (float& value : values) value -= less ? 1.0F : 0.0F;
    bytes = as_bytes(values);
  }
  if (origin.change == GgufChange::kTurned && tensor.shape.size() == 2) {
    bytes = turned_bytes(bytes, tensor.shape.front(), blocks ? sizeof(float) : tensor.type->bytes);
  }
  return bytes;
}

}  // namespace bantam::convert
