// The tokens that generation begins with: prompts of decoders, sources of encoder-decoders.
#ifndef BANTAM_CONVERTER_RUN_PROMPTS_H_
#define BANTAM_CONVERTER_RUN_PROMPTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "run/decoding.h"

namespace bantam::convert {

struct SourceIds {
  std::vector<int32_t> ids;
  uint32_t cut = 0;  // number of tokens that did not fit
};

/// Returns the tokens of `text` from tokenizer number `tokenizer`, with special tokens if `special`; at most `most`
/// tokens (0: no limit).
SourceIds text_ids(const Model& model, uint32_t tokenizer, const std::string& text, uint32_t most, bool special = true);

/// Returns an encoder-decoder's source for `text`, after the prefix of its generation settings and with the requested
/// languages. Throws (kInvalid) if it is too long and must not be truncated.
SourceIds source_ids(const Model& model, const Decoding& decoding, const std::string& text, uint32_t most);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_PROMPTS_H_
