// Encodes a text or a pair to ids: added tokens, words, truncation and template.
#ifndef BANTAM_TEXT_ENCODER_H_
#define BANTAM_TEXT_ENCODER_H_

#include "bantam/tokenizer.h"
#include "text/tables.h"
#include "text/token_sink.h"

namespace bantam::text {

using Template = flatbuffers::Vector<const fb::TemplatePiece*>;

/// Computes how many content tokens of two sequences to keep, like Hugging Face's truncate_encodings. `counts` are the
/// available numbers (0 for an absent second text), `budget` the number that fits. Returns false if the strategy cannot
/// remove enough; `kept` is then unspecified. `longest_first` on a single text, and `only_second` without a second
/// text, shorten the first.
bool truncate_counts(fb::Truncation strategy, bool pair, const uint32_t counts[2], uint32_t budget, uint32_t kept[2]);

/// TokenBuffer::sequences of tokens that do not belong to a text.
constexpr uint8_t kSpecial = 255;

/// Writes tokens [sink->first, sink->first + sink->room) of a text to the sink; counts all up to sink->stop.
void encode_text(const Tables& tables, Text text, TokenSink* sink);

/// Tokenizer::encode.
Status encode(const Tables& tables, Text first, Text second, const EncodeOptions& options, const TokenBuffer& out,
              EncodeResult* result);

/// Does the same as encode() for texts whose tokens are known. O(tokens written).
Status cut_window(const Tables& tables, const TextTokens& first, const TextTokens* second, const EncodeOptions& options,
                  const TokenBuffer& out, EncodeResult* result);

/// TemplatePiece::sequence of the piece that fills a text up to its limit.
constexpr int32_t kFillPiece = 2;

/// Returns true if the template ends with a fill piece: all its texts then have as many tokens as allowed.
bool fills_up(const fb::Tokenizer& tokenizer, bool pair);

/// Number of fixed tokens in the template for one text or a pair.
uint32_t template_specials(const fb::Tokenizer& tokenizer, bool pair);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_ENCODER_H_
