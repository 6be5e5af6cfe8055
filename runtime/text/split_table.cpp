#include "text/split_table.h"

#include "text/tables.h"

namespace bantam::text {

Status verify_split(Check& check) {
  const fb::Blob* blob = find_blob(check.tokenizer, fb::BlobName::split);
  if (!check.lies_inside(blob) || blob->size() < split_next_offset(1)) {
    return check.fail("the table of the split is not there, not aligned or cut short");
  }
  const uint8_t* table = check.data + blob->offset();
  const auto& header = *reinterpret_cast<const SplitHeader*>(table);
  if (header.version != kSplitVersion) {
    return check.fail("the version of the table of the split is not known", Status::kUnsupported);
  }
  if (header.stride < 2 || header.stride > kMaxSplitStride || header.states < 2 || header.states > kMaxSplitStates ||
      header.states * header.stride > kMaxSplitEntries || header.blocks < 1 || header.blocks > 256) {
    return check.fail("the table of the split has too many or too few states, classes or blocks");
  }
  const uint32_t entries = header.states * header.stride;
  if (blob->size() != split_next_offset(header.blocks) + uint64_t{2} * entries) {
    return check.fail("the table of the split is not of the size that it says");
  }
  const SplitTable split(table);
  bool good = true;
  for (uint32_t i = 0; i < kSplitAscii; ++i) good = good && split.ascii[i] < header.stride;
  for (uint32_t i = 0; i < kSplitTop; ++i) good = good && split.top[i] < header.blocks;
  for (uint32_t i = 0; i < header.blocks * 256; ++i) good = good && split.blocks[i] < header.stride;
  if (!good) return check.fail("the table of the split has a class or block that is not there");
  for (uint32_t i = 0; i < entries; ++i) {
    const uint32_t state = split.next[i] & (kSplitMatch - 1);
    good = good && state < entries && state % header.stride == 0;
  }
  if (!good) return check.fail("the table of the split leads to a state that is not there");
  for (uint32_t c = 0; c < header.stride; ++c) good = good && split.next[c] == 0;
  for (uint32_t state = 0; state < header.states; ++state) {
    good = good && (split.next[state * header.stride] & (kSplitMatch - 1)) == 0;
  }
  if (!good) return check.fail("the table of the split goes on behind its end");
  return Status::kOk;
}

}  // namespace bantam::text
