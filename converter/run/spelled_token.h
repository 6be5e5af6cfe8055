// Tokens in the spelling of vocabulary files.
#ifndef BANTAM_CONVERTER_RUN_SPELLED_TOKEN_H_
#define BANTAM_CONVERTER_RUN_SPELLED_TOKEN_H_

#include <cstdint>
#include <string>

#include "bantam/tokenizer.h"

namespace bantam::convert {

/// Returns token `id` of an open tokenizer. The file's mark for the end of a word ("</w>") or for its inside ("##")
/// replaces the bytes that represent it in the runtime. Empty if `id` is out of range.
std::string spelled_token(const Tokenizer& tokenizer, uint32_t id);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_SPELLED_TOKEN_H_
