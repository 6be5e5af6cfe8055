// Tokens as files of vocabularies spell them.
#ifndef BANTAM_CONVERTER_RUN_SPELLED_TOKEN_H_
#define BANTAM_CONVERTER_RUN_SPELLED_TOKEN_H_

#include <cstdint>
#include <string>

#include "bantam/tokenizer.h"

namespace bantam::convert {

/// Token `id` of an open tokenizer, with what its file says at the end of a word ("</w>") or within one ("##") in place of
/// the bytes that mark that in the runtime; empty when out of range.
std::string spelled_token(const Tokenizer& tokenizer, uint32_t id);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_SPELLED_TOKEN_H_
