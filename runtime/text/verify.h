// Verification of a tokenizer's tables, part of Model::open.
#ifndef BANTAM_TEXT_VERIFY_H_
#define BANTAM_TEXT_VERIFY_H_

#include <stdint.h>

#include "bantam/status.h"
#include "bantam_generated.h"

namespace bantam::text {

/// After kOk no call of Tokenizer reads outside these tables, whatever they contain, nor outside the caller's texts and
/// buffers. `tokenizer` must lie in a buffer that the structure check accepted; data[0, data_size) is the data section,
/// at least 4-byte aligned. kCorrupt: something is inconsistent; kUnsupported: a kind of tokenizer or a limit that this
/// version does not support; `fault` (may be null) says which. One pass over the tables: O(units + tokens + added
/// tokens).
Status verify_tokenizer(const fb::Tokenizer& tokenizer, const uint8_t* data, uint64_t data_size, Fault* fault);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_VERIFY_H_
