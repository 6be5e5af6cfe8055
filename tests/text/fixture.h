// A tokenizer's tables laid out in memory as a file would hold them, without a model around them.
#ifndef BANTAM_TESTS_TEXT_FIXTURE_H_
#define BANTAM_TESTS_TEXT_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include "bantam/tokenizer.h"
#include "tests/effort.h"
#include "text/tables.h"
#include "text/verify.h"
#include "tokenizer/tokenizer.h"

namespace bantam::tests {

/// The description's blob of this name, which it has.
std::unique_ptr<fb::Blob>& blob_of(fb::TokenizerT& tokenizer, fb::BlobName name);

class TokenizerImage {
 public:
  /// Lays out the only tokenizer of `graph`.
  explicit TokenizerImage(convert::Graph& graph);

  /// Packs the tables' description again, after a test changed it.
  void repack(const fb::TokenizerT& tokenizer);

  const fb::Tokenizer& table() const { return *flatbuffers::GetRoot<fb::Tokenizer>(builder_.GetBufferPointer()); }
  uint8_t* data() { return reinterpret_cast<uint8_t*>(data_.data()); }
  size_t data_size() const { return data_.size() * 8; }
  Status verify(Fault* fault = nullptr);
  Tokenizer open();

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

Encoded encode(const Tokenizer& tokenizer, const std::string& first, const std::string* second = nullptr,
               const EncodeOptions& options = {}, uint32_t capacity = 1u << 16);

/// `piece` again and again, `size` bytes or a little more.
std::string long_text(const std::string& piece, size_t size = testing::kLongText);

/// The tokens of `text` are counted only.
Status count_tokens(const Tokenizer& tokenizer, const std::string& text, EncodeResult* result);

}  // namespace bantam::tests

#endif  // BANTAM_TESTS_TEXT_FIXTURE_H_
