// A text or a pair to ids: added tokens, words, truncation and template.
#ifndef BANTAM_TEXT_ENCODER_H_
#define BANTAM_TEXT_ENCODER_H_

#include "bantam/tokenizer.h"
#include "text/tables.h"
#include "text/token_sink.h"

namespace bantam::text {

using Template = flatbuffers::Vector<const fb::TemplatePiece*>;

/// How many content tokens of two sequences stay, as Hugging Face's truncate_encodings decides.
/// `counts` are what there is (0 for an absent second), `budget` what fits. False when the strategy may not
/// remove enough; `kept` is then unspecified. `longest_first` on a single text, and `only_second` without a
/// second text, shorten the first.
bool truncate_counts(fb::Truncation strategy, bool pair, const uint32_t counts[2], uint32_t budget, uint32_t kept[2]);

/// TokenBuffer::sequences of tokens that are no text.
constexpr uint8_t kSpecial = 255;

/// Tokens [sink->first, + sink->room) of one text go to the sink; all are counted up to sink->stop.
void encode_text(const Tables& tables, Text text, TokenSink* sink);

/// Tokenizer::encode.
Status encode(const Tables& tables, Text first, Text second, const EncodeOptions& options, const TokenBuffer& out,
              EncodeResult* result);

/// Does as encode() for texts whose tokens are known. O(tokens that are written).
Status cut_window(const Tables& tables, const TextTokens& first, const TextTokens* second, const EncodeOptions& options,
                  const TokenBuffer& out, EncodeResult* result);

/// TemplatePiece::sequence of what fills a text up to its limit.
constexpr int32_t kFillPiece = 2;

/// Does the template end with that? All its texts have as many tokens then as they may have.
bool fills_up(const fb::Tokenizer& tokenizer, bool pair);

/// Fixed tokens of the template for one text or a pair.
uint32_t template_specials(const fb::Tokenizer& tokenizer, bool pair);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_ENCODER_H_
