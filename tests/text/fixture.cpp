#include "tests/text/fixture.h"

#include <cstring>
#include <stdexcept>

namespace bantam::tests {

std::unique_ptr<fb::Blob>& blob_of(fb::TokenizerT& tokenizer, fb::BlobName name) {
  for (auto& blob : tokenizer.blobs) {
    if (blob->name == name) return blob->data;
  }
  throw std::out_of_range("the tokenizer has no such blob");
}

TokenizerImage::TokenizerImage(convert::Graph& graph) {
  size_t size = 0;
  for (const convert::RawBlob& blob : graph.blobs) size += (blob.bytes.size() + 63) / 64 * 64;
  data_.resize(size / 8);
  size_t at = 0;
  for (convert::RawBlob& blob : graph.blobs) {
    if (!blob.bytes.empty()) {
      std::memcpy(reinterpret_cast<uint8_t*>(data_.data()) + at, blob.bytes.data(), blob.bytes.size());
    }
    *blob.target = fb::Blob(at, blob.bytes.size(), 0, 0);
    at += (blob.bytes.size() + 63) / 64 * 64;
  }
  repack(*graph.model.tokenizers.at(0));
}

void TokenizerImage::repack(const fb::TokenizerT& tokenizer) {
  builder_.Clear();
  builder_.Finish(fb::Tokenizer::Pack(builder_, &tokenizer));
}

Status TokenizerImage::verify(Fault* fault) { return text::verify_tokenizer(table(), data(), data_size(), fault); }

Tokenizer TokenizerImage::open() { return text::open_tables(table(), data()); }

Encoded encode(const Tokenizer& tokenizer, const std::string& first, const std::string* second,
               const EncodeOptions& options, uint32_t capacity) {
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

std::string long_text(const std::string& piece, size_t size) {
  std::string text;
  while (text.size() < size) text += piece;
  return text;
}

Status count_tokens(const Tokenizer& tokenizer, const std::string& text, EncodeResult* result) {
  EncodeOptions options;
  options.max_tokens = 8;
  int32_t ids[8];
  return tokenizer.encode(view(text), {}, options, {ids, nullptr, nullptr, nullptr, 8}, result);
}

}  // namespace bantam::tests
