// Tokens that generating begins with: prompts of decoders, sources of encoder-decoders.
#ifndef BANTAM_CONVERTER_RUN_PROMPTS_H_
#define BANTAM_CONVERTER_RUN_PROMPTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "run/decoding.h"

namespace bantam::convert {

struct SourceIds {
  std::vector<int32_t> ids;
  uint32_t cut = 0;  // tokens that did not fit
};

/// Tokens of `text` as tokenizer number `tokenizer` makes them, with `special` its special ones included; at most `most` of them, 0: any
/// number.
SourceIds text_ids(const Model& model, uint32_t tokenizer, const std::string& text, uint32_t most, bool special = true);

/// What an encoder-decoder reads of `text`: behind the prefix of its way of generating, with the languages that are asked for.
/// Throws (kInvalid) where it is too long and not to be cut.
SourceIds source_ids(const Model& model, const Decoding& decoding, const std::string& text, uint32_t most);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_PROMPTS_H_
