// The tokens that generating begins with: prompts of decoders, sources of encoder-decoders.
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

/// Returns the tokens of `text` as tokenizer number `tokenizer` makes them, with its special ones if `special`; at most
/// `most` of them, 0: any number.
SourceIds text_ids(const Model& model, uint32_t tokenizer, const std::string& text, uint32_t most, bool special = true);

/// Returns an encoder-decoder's source for `text`: behind the prefix of its way of generating, with the requested
/// languages. Throws (kInvalid) if it is too long and must not be cut.
SourceIds source_ids(const Model& model, const Decoding& decoding, const std::string& text, uint32_t most);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_PROMPTS_H_
