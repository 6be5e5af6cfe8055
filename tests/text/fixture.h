// A tokenizer's tables in memory, in the form that a file would have, without a model.
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

/// Returns the description's blob of this name, which must exist.
std::unique_ptr<fb::Blob>& blob_of(fb::TokenizerT& tokenizer, fb::BlobName name);

class TokenizerImage {
 public:
  /// Lays out the only tokenizer of `graph`.
  explicit TokenizerImage(convert::Graph& graph);

  /// Packs the description of the tables again after a test has changed it.
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

/// The tokens of a text or a pair.
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

/// Returns repetitions of `piece`, `size` bytes or slightly more.
std::string long_text(const std::string& piece, size_t size = testing::kLongText);

/// Counts the tokens of `text` without storing them.
Status count_tokens(const Tokenizer& tokenizer, const std::string& text, EncodeResult* result);

}  // namespace bantam::tests

#endif  // BANTAM_TESTS_TEXT_FIXTURE_H_
