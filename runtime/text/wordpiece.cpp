#include "text/wordpiece.h"

#include <string.h>

namespace bantam::text {
namespace {

/// The table of short words; firmware does not read it. Ids in it are judged where a word leads to them.
Status check_words(Check& check) {
  const fb::Blob* blob = find_blob(check.tokenizer, fb::BlobName::words);
  if (kSmall || blob == nullptr) return Status::kOk;
  if (!check.lies_inside(blob)) return check.fail("the table of words lies outside the data section");
  if (blob->size() < word_table_end(0, 1)) return check.fail("the table of words is cut short");
  const uint8_t* table = check.data + blob->offset();
  const uint32_t bucket_bits = load_u32(table);
  const uint32_t home_count = load_u32(table + 4);
  if (bucket_bits > kMaxBucketBits) return check.fail("the table of words has too many buckets");
  if (reinterpret_cast<uintptr_t>(table) % alignof(WordSlot) != 0) {
    return check.fail("the table of words is not aligned");
  }
  if (home_count == 0 || blob->size() != word_table_end(bucket_bits, home_count)) {
    return check.fail("the table of words is not of the size that it says");
  }
  return Status::kOk;
}

}  // namespace

Status WordPiece::verify(Check& check, const LexiconRoots& roots) {
  const fb::TokenModel& model = *check.tokenizer.model();
  if (model.max_word_chars() > kMaxWordChars) {
    return check.fail("max_word_chars is larger than this build takes", Status::kUnsupported);
  }
  if (!check.is_id(model.unknown_id())) return check.fail("unknown_id is not a token");
  const uint32_t prefix = model.continuing_prefix() == nullptr ? 0 : model.continuing_prefix()->size();
  if (roots.prefix_size != prefix) return check.fail("the trie was made for another continuing_prefix");
  return check_words(check);
}

TokenText WordPiece::decode(const fb::Tokenizer& tokenizer, Text token) {
  const flatbuffers::String* prefix = tokenizer.model()->continuing_prefix();
  const uint32_t size = prefix == nullptr ? 0 : prefix->size();
  if (size == 0 || token.size <= size || memcmp(token.data, prefix->c_str(), size) != 0) return {token, false};
  return {{token.data + size, token.size - size}, true};
}

}  // namespace bantam::text
