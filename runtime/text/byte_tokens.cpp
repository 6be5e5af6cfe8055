#include "text/byte_tokens.h"

namespace bantam::text {

Status check_byte_tokens(Check& check) {
  const fb::Blob* blob = find_blob(check.tokenizer, fb::BlobName::byte_tokens);
  if (blob == nullptr) return Status::kOk;
  if (blob->size() != 4 * 256) return check.fail("the table of bytes' tokens does not hold 256 of them");
  const auto* ids = reinterpret_cast<const uint32_t*>(check.data + blob->offset());
  bool good = true;
  for (uint32_t i = 0; i < 256; ++i) good = good && ids[i] < check.tokenizer.vocab_size();
  return good ? Status::kOk : check.fail("a byte's token is not a token");
}

}  // namespace bantam::text
