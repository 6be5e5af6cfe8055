#include "text/word_table.h"

#include "text/check.h"
#include "text/tables.h"

namespace bantam::text {

Status check_words(Check& check) {
  const fb::Blob* blob = find_blob(check.tokenizer, fb::BlobName::words);
  if (blob == nullptr) return Status::kOk;
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

}  // namespace bantam::text
