// The texts by which added tokens are found.
#ifndef BANTAM_CONVERTER_TOKENIZER_ADDED_TEXTS_H_
#define BANTAM_CONVERTER_TOKENIZER_ADDED_TEXTS_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bantam_generated.h"

namespace bantam::convert {

/// By kind, 0: looked for in raw, 1: in normalised text; the text and its token's place in added_tokens.
using AddedTexts = std::array<std::map<std::string, uint32_t>, 2>;

/// Where nothing is normalised, both kinds are looked for in the same text, raw ones first: whether that could make a difference
/// to looking for all at once.
bool may_rival(const AddedTexts& added, const std::vector<std::unique_ptr<fb::AddedTokenT>>& tokens);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_ADDED_TEXTS_H_
