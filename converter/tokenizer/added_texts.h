// The texts of added tokens that are searched for.
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

/// Index 0: searched in raw text, 1: in normalized text. Maps a text to its token's index in added_tokens.
using AddedTexts = std::array<std::map<std::string, uint32_t>, 2>;

/// Without a normalizer, both kinds are searched in the same text, the raw ones first. Returns true if that could give
/// other results than searching for all at once.
bool may_rival(const AddedTexts& added, const std::vector<std::unique_ptr<fb::AddedTokenT>>& tokens);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_ADDED_TEXTS_H_
