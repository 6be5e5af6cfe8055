#include "text/hashed.h"

namespace bantam::text {

Status Hashed::verify(Check& check, const LexiconRoots& /*roots*/) {
  const fb::TokenModel& model = *check.tokenizer.model();
  if (model.max_gram() > kMaxCharGram || model.word_grams() > kMaxWordGram) {
    return check.fail("n-grams are longer than this build takes", Status::kUnsupported);
  }
  if (model.max_gram() != 0 && (model.min_gram() == 0 || model.min_gram() > model.max_gram())) {
    return check.fail("min_gram is not between 1 and max_gram");
  }
  constexpr uint32_t kMostIds = 0x7FFFFFFF;
  const fb::Blob* there = find_blob(check.tokenizer, fb::BlobName::buckets);
  if (there == nullptr) {
    return model.buckets() <= kMostIds - check.tokenizer.vocab_size() ? Status::kOk
                                                                      : check.fail("buckets are too many");
  }
  if (there->size() % sizeof(uint32_t) != 0) return check.fail("the table of n-grams ends within a number");
  const auto* numbers = reinterpret_cast<const uint32_t*>(check.data + there->offset());
  const uint64_t count = there->size() / sizeof(uint32_t);
  if (count > kMostIds - check.tokenizer.vocab_size()) return check.fail("n-grams are too many");
  for (uint64_t i = 0; i < count; ++i) {
    if (numbers[i] >= model.buckets() || (i > 0 && numbers[i] <= numbers[i - 1])) {
      return check.fail("the numbers of n-grams do not ascend below buckets");
    }
  }
  return Status::kOk;
}

int64_t Hashed::place_of(const Tables& tables, uint32_t bucket) {
  uint32_t low = 0;
  uint32_t high = tables.bucket_count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (tables.buckets[middle] < bucket) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < tables.bucket_count && tables.buckets[low] == bucket ? int64_t{low} : -1;
}

}  // namespace bantam::text
