// The code points that normalizers produce: blob `forms` of a tokenizer that has a normalizer other than BERT's.
//
//   u32 version, 1
//   u32 blanks            1: a single blank between plain characters stays a blank, or becomes U+2581
//   u32 plain[4]          a bit for each ASCII character: it is unchanged between printed ASCII characters
//   u32 count             tables, 1 to 16
//   u32 offset[count]     offset of each table in the blob, a multiple of 4
// Each table has, in this order:
//   u32 blocks, entries, codes, pairs
//   u8  top[4352]                number of the block for each 256 code points
//   u16 block[blocks][256]       numbers of their entries
//   u32 entry[entries]           bits 0-7 class, bits 8-12 count, bits 13-31 place among the codes
//   u32 code[codes]
//   u32 pair[pairs][3]           first, second, composition; ascending
// A code point becomes `count` codes; 31: it is unchanged. Table 0 tells where characters begin: its classes are
// CharBits.
#ifndef BANTAM_TEXT_CODE_TABLE_H_
#define BANTAM_TEXT_CODE_TABLE_H_

#include <stdint.h>

#include "text/check.h"

namespace bantam::text {

constexpr uint32_t kFormsVersion = 1;
constexpr uint32_t kMaxCodeTables = 16;
constexpr uint32_t kCodeTop = 0x110000 >> 8;
constexpr uint32_t kStaysItself = 31;
/// Most code points that a table maps one to.
constexpr uint32_t kMaxParts = 18;
constexpr uint32_t kMaxCodes = 1u << 19;

/// Classes of table 0.
enum CharBits : uint32_t {
  kGoesOn = 1,   // its normalization may depend on the preceding text
  kExtends = 2,  // belongs to the grapheme before it
  kAlone = 4,    // a control character: nothing extends its grapheme
};

struct FormsHeader {
  uint32_t version;
  uint32_t blanks;
  uint32_t plain[4];
  uint32_t count;
  uint32_t offset[1];
};

struct CodeTableHeader {
  uint32_t blocks;
  uint32_t entries;
  uint32_t codes;
  uint32_t pairs;
};

/// View of a verified table.
struct CodeTable {
  const uint8_t* top;
  const uint16_t* blocks;
  const uint32_t* entries;
  const uint32_t* codes;
  const uint32_t* pairs;
  uint32_t pair_count;

  explicit CodeTable(const uint8_t* table) {
    const auto& header = *reinterpret_cast<const CodeTableHeader*>(table);
    top = table + sizeof(CodeTableHeader);
    blocks = reinterpret_cast<const uint16_t*>(top + kCodeTop);
    entries = reinterpret_cast<const uint32_t*>(blocks + size_t{256} * header.blocks);
    codes = entries + header.entries;
    pairs = codes + header.codes;
    pair_count = header.pairs;
  }

  uint32_t entry(uint32_t code) const { return entries[blocks[top[code >> 8] * 256u + (code & 255)]]; }
  uint32_t class_of(uint32_t code) const { return entry(code) & 0xFF; }

  /// Returns the composition of two code points; 0 if they do not compose.
  uint32_t compose(uint32_t first, uint32_t second) const;
};

/// Returns table `index` of a verified blob.
inline CodeTable code_table(const uint8_t* forms, uint32_t index) {
  return CodeTable(forms + reinterpret_cast<const FormsHeader*>(forms)->offset[index]);
}

/// Verifies the blob `forms` of check.tokenizer and counts its tables. One pass over it.
Status verify_forms(Check& check, uint32_t* count);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_CODE_TABLE_H_
