// Bytes as one text or as a pair (split at the first 0xFF): whatever they are, tokens are legal ids and their offsets are
// ordered ranges of the text they belong to.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "bantam/tokenizer.h"

namespace {

constexpr uint32_t kCapacity = 96;

/// The tokenizer of a converted seed model; the bytes live for the whole process.
const bantam::Tokenizer& tokenizer() {
  static const bantam::Tokenizer opened = [] {
    std::ifstream file(BANTAM_FUZZ_SEEDS "/joint-int8", std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    void* aligned = std::aligned_alloc(64, (bytes.size() + 64) / 64 * 64);
    std::memcpy(aligned, bytes.data(), bytes.size());
    bantam::Model model;
    bantam::Tokenizer result;
    if (bantam::Model::open(aligned, bytes.size(), &model) != bantam::Status::kOk) std::abort();
    if (bantam::Tokenizer::open(model, 0, &result) != bantam::Status::kOk) std::abort();
    return result;
  }();
  return opened;
}

void require(bool holds) {
  if (!holds) std::abort();
}

void encode(bantam::Text first, bantam::Text second, uint32_t max_tokens) {
  int32_t ids[kCapacity];
  int32_t segments[kCapacity];
  bantam::Offset offsets[kCapacity];
  uint8_t sequences[kCapacity];
  bantam::TokenBuffer buffer;
  buffer.ids = ids;
  buffer.segments = segments;
  buffer.offsets = offsets;
  buffer.sequences = sequences;
  buffer.capacity = kCapacity;
  bantam::EncodeOptions options;
  options.max_tokens = max_tokens;
  bantam::EncodeResult result;
  if (tokenizer().encode(first, second, options, buffer, &result) != bantam::Status::kOk) return;
  require(result.count <= max_tokens);
  uint32_t last[2] = {0, 0};
  for (uint32_t i = 0; i < result.count; i++) {
    require(ids[i] >= 0 && static_cast<uint32_t>(ids[i]) < tokenizer().vocab_size());
    if (sequences[i] == 255) {
      require(offsets[i].begin == 0 && offsets[i].end == 0);
      continue;
    }
    require(sequences[i] <= 1);
    const size_t size = sequences[i] == 0 ? first.size : second.size;
    require(offsets[i].begin <= offsets[i].end && offsets[i].end <= size);
    require(offsets[i].begin >= last[sequences[i]]);
    last[sequences[i]] = offsets[i].begin;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint32_t max_tokens = 2 + data[0] % (kCapacity - 2);
  const char* text = reinterpret_cast<const char*>(data) + 1;
  size--;
  const void* split = std::memchr(text, 0xFF, size);
  if (split == nullptr) {
    encode({text, size}, {}, max_tokens);
  } else {
    const size_t first = static_cast<size_t>(static_cast<const char*>(split) - text);
    encode({text, first}, {text + first + 1, size - first - 1}, max_tokens);
  }
  return 0;
}
