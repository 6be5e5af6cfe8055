#include "text/code_table.h"

#include "text/tables.h"

namespace bantam::text {
namespace {

uint64_t table_size(const CodeTableHeader& header) {
  return sizeof(CodeTableHeader) + kCodeTop + uint64_t{512} * header.blocks + uint64_t{4} * header.entries +
         uint64_t{4} * header.codes + uint64_t{12} * header.pairs;
}

/// Returns true if no code point leads outside the table at bytes[0, size).
bool is_sound(const uint8_t* bytes, uint64_t size) {
  if (size < sizeof(CodeTableHeader)) return false;
  const auto& header = *reinterpret_cast<const CodeTableHeader*>(bytes);
  if (header.blocks < 1 || header.blocks > 256 || header.entries < 1 || header.entries > 65536 ||
      header.codes > kMaxCodes || header.pairs > 65536 || size < table_size(header)) {
    return false;
  }
  const CodeTable table(bytes);
  bool good = true;
  for (uint32_t i = 0; i < kCodeTop; ++i) good = good && table.top[i] < header.blocks;
  for (uint32_t i = 0; i < header.blocks * 256; ++i) good = good && table.blocks[i] < header.entries;
  for (uint32_t i = 0; i < header.entries; ++i) {
    const uint32_t count = table.entries[i] >> 8 & 31;
    const uint32_t place = table.entries[i] >> 13;
    good = good && (count == kStaysItself || (count <= kMaxParts && place + count <= header.codes));
  }
  for (uint32_t i = 0; i < header.codes; ++i) good = good && table.codes[i] < 0x110000;
  for (uint32_t i = 0; i < 3 * header.pairs; ++i) good = good && table.pairs[i] < 0x110000;
  return good;
}

}  // namespace

uint32_t CodeTable::compose(uint32_t first, uint32_t second) const {
  uint32_t low = 0;
  uint32_t high = pair_count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const uint32_t* pair = pairs + size_t{3} * middle;
    if (pair[0] == first && pair[1] == second) return pair[2];
    if (pair[0] < first || (pair[0] == first && pair[1] < second)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return 0;
}

Status verify_forms(Check& check, uint32_t* count) {
  const fb::Blob* blob = find_blob(check.tokenizer, fb::BlobName::forms);
  if (blob == nullptr || blob->size() < sizeof(FormsHeader)) {
    return check.fail("the tables of normalisers are not there or cut short");
  }
  const uint8_t* forms = check.data + blob->offset();
  const auto& header = *reinterpret_cast<const FormsHeader*>(forms);
  if (header.version != kFormsVersion) {
    return check.fail("the version of the tables of normalisers is not known", Status::kUnsupported);
  }
  if (header.count < 1 || header.count > kMaxCodeTables) {
    return check.fail("the normalisers have too many or too few tables");
  }
  // A blob with a sound first table is longer than the header with all offsets.
  static_assert(sizeof(CodeTableHeader) + kCodeTop > sizeof(FormsHeader) + 4 * kMaxCodeTables);
  for (uint32_t i = 0; i < header.count; ++i) {
    const uint32_t offset = header.offset[i];
    if (offset % 4 != 0 || offset > blob->size() || !is_sound(forms + offset, blob->size() - offset)) {
      return check.fail("a table of the normalisers is cut short or leads outside itself");
    }
  }
  *count = header.count;
  return Status::kOk;
}

}  // namespace bantam::text
