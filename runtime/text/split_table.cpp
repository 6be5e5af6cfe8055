#include "text/split_table.h"

#include "text/tables.h"

namespace bantam::text {

namespace {

/// Verifies one table in the `left` bytes that remain. *size: its bytes; *more: another table follows.
Status verify_table(Check& check, const uint8_t* table, uint64_t left, uint64_t* size, bool* more) {
  if (left < split_next_offset(1)) return check.fail("the table of the split is cut short");
  const auto& header = *reinterpret_cast<const SplitHeader*>(table);
  const bool prefixes = linked::kSplitPrefix && header.version == kSplitPrefixVersion;
  const bool ends = linked::kSplitEnds && (header.version == kSplitEndsVersion || prefixes);
  const bool passes = linked::kSplitPasses && (header.version == kSplitPassVersion || ends);
  if (header.version != kSplitVersion && !passes) {
    return check.fail("the version of the table of the split is not known", Status::kUnsupported);
  }
  if (header.stride < 2 || header.stride > kMaxSplitStride || header.states < 2 || header.states > kMaxSplitStates ||
      header.states * header.stride > kMaxSplitEntries || header.blocks < 1 || header.blocks > 256) {
    return check.fail("the table of the split has too many or too few states, classes or blocks");
  }
  const uint32_t entries = header.states * header.stride;
  *size = split_next_offset(header.blocks) + uint64_t{2} * entries;
  if (passes) *size = split_pass_size(header);
  *more = false;
  if (linked::kSplitPasses ? *size > left : *size != left) {
    return check.fail("the table of the split is not of the size that it says");
  }
  if (passes) {
    const SplitPass& rules = split_pass(table);
    if (rules.more > 1) return check.fail("the table of the split is not of the size that it says");
    *more = rules.more != 0;
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

}  // namespace

Status verify_split(Check& check, fb::BlobName name, uint32_t most) {
  const fb::Blob* blob = find_blob(check.tokenizer, name);
  if (blob == nullptr) return Status::kOk;
  if constexpr (!linked::kSplitPasses) most = 1;
  uint64_t at = 0;
  bool more = true, prefixed = false;
  for (uint32_t pass = 0; more && pass < most; ++pass) {
    uint64_t size = 0;
    const Status status = verify_table(check, check.data + blob->offset() + at, blob->size() - at, &size, &more);
    if (status != Status::kOk) return status;
    if (prefixed && more)
      return check.fail("the table of the split that puts blanks before words is not the last but one");
    const auto& header = *reinterpret_cast<const SplitHeader*>(check.data + blob->offset() + at);
    prefixed = header.version == kSplitPrefixVersion;
    if (prefixed && !more) return check.fail("the table of the split that puts blanks before words is the last one");
    at += size;
  }
  if (linked::kSplitPasses && (more || at != blob->size())) {
    return check.fail("the table of the split is not of the size that it says");
  }
  return Status::kOk;
}

}  // namespace bantam::text
