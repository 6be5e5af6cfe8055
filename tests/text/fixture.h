// A tokenizer's tables laid out in memory as a file would hold them, without a model around them.
#ifndef BANTAM_TESTS_TEXT_FIXTURE_H_
#define BANTAM_TESTS_TEXT_FIXTURE_H_

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bantam/tokenizer.h"
#include "import/tokenizer/tokenizer.h"
#include "text/tables.h"
#include "text/verify.h"

namespace bantam::tests {

/// The description's blob of this name, which it has.
inline std::unique_ptr<fb::Blob>& blob_of(fb::TokenizerT& tokenizer, fb::BlobName name) {
  for (auto& blob : tokenizer.blobs) {
    if (blob->name == name) return blob->data;
  }
  throw std::out_of_range("the tokenizer has no such blob");
}

class TokenizerImage {
 public:
  /// Lays out the only tokenizer of `graph`.
  explicit TokenizerImage(convert::Graph& graph) {
    size_t size = 0;
    for (const convert::RawBlob& blob : graph.blobs) size += (blob.bytes.size() + 63) / 64 * 64;
    data_.resize(size / 8);
    size_t at = 0;
    for (convert::RawBlob& blob : graph.blobs) {
      if (!blob.bytes.empty())
        std::memcpy(reinterpret_cast<uint8_t*>(data_.data()) + at, blob.bytes.data(), blob.bytes.size());
      *blob.target = fb::Blob(at, blob.bytes.size(), 0, 0);
      at += (blob.bytes.size() + 63) / 64 * 64;
    }
    repack(*graph.model.tokenizers.at(0));
  }

  /// Packs the tables' description again, after a test changed it.
  void repack(const fb::TokenizerT& tokenizer) {
    builder_.Clear();
    builder_.Finish(fb::Tokenizer::Pack(builder_, &tokenizer));
  }

  const fb::Tokenizer& table() const { return *flatbuffers::GetRoot<fb::Tokenizer>(builder_.GetBufferPointer()); }
  uint8_t* data() { return reinterpret_cast<uint8_t*>(data_.data()); }
  size_t data_size() const { return data_.size() * 8; }
  Status verify(Fault* fault = nullptr) { return text::verify_tokenizer(table(), data(), data_size(), fault); }
  Tokenizer open() { return text::open_tables(table(), data()); }

 private:
  std::vector<uint64_t> data_;
  flatbuffers::FlatBufferBuilder builder_;
};

/// A text's or a pair's tokens.
struct Encoded {
  Status status = Status::kOk;
  EncodeResult result;
  std::vector<int32_t> ids;
  std::vector<int32_t> segments;
  std::vector<Offset> offsets;
  std::vector<uint8_t> sequences;
};

inline Text view(const std::string& text) { return {text.data(), text.size()}; }

inline Encoded encode(const Tokenizer& tokenizer, const std::string& first, const std::string* second = nullptr,
                      const EncodeOptions& options = {}, uint32_t capacity = 1u << 16) {
  Encoded out;
  out.ids.resize(capacity);
  out.segments.resize(capacity);
  out.offsets.resize(capacity);
  out.sequences.resize(capacity);
  const TokenBuffer buffer = {out.ids.data(), out.segments.data(), out.offsets.data(), out.sequences.data(), capacity};
  out.status = tokenizer.encode(view(first), second == nullptr ? Text{} : view(*second), options, buffer, &out.result);
  const size_t count = out.status == Status::kOk ? out.result.count : 0;
  out.ids.resize(count);
  out.segments.resize(count);
  out.offsets.resize(count);
  out.sequences.resize(count);
  return out;
}

}  // namespace bantam::tests

#endif  // BANTAM_TESTS_TEXT_FIXTURE_H_
