// Encodes a text and the labels given with it to tokens and their marks (fb::Finding).
#ifndef BANTAM_TEXT_LABEL_ENCODER_H_
#define BANTAM_TEXT_LABEL_ENCODER_H_

#include "bantam/tokenizer.h"
#include "text/tables.h"

namespace bantam::text {

/// A text, and the labels to find spans for in it.
struct LabelledText {
  Text text;
  const Text* labels;
  uint32_t label_count;
  const uint8_t* word_split;  // the blob's bytes
};

/// Encodes like Tokenizer::encode; `marks` has out.capacity elements. Tokens of labels count as special ones.
/// kBufferTooSmall: the labels alone do not fit `max_tokens`. If the text does not fit, its end is truncated. O(bytes).
Status encode_labelled(const Tables& tables, const fb::Finding& finding, const LabelledText& labelled,
                       uint32_t max_tokens, const TokenBuffer& out, int32_t* marks, EncodeResult* result);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_LABEL_ENCODER_H_
