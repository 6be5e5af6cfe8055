// Measures how likely texts are to a decoder.
#ifndef BANTAM_CONVERTER_SCORE_PERPLEXITY_H_
#define BANTAM_CONVERTER_SCORE_PERPLEXITY_H_

#include <cstdint>
#include <string>

#include "run/chunks.h"
#include "run/engine.h"

namespace bantam::convert {

/// The likelihood of one text or of several.
struct Likelihood {
  uint64_t tokens = 0;  // predicted tokens: all but the first of each text
  uint64_t bytes = 0;   // bytes of the texts
  double log = 0;       // natural logarithm of the tokens' probability

  /// Returns exp(-log / tokens); 1 without tokens.
  double perplexity() const;
  double bits_per_byte() const;
};

/// Adds the likelihood of `text` to `all`: predicts each token from the preceding ones, in context 0 of the engine's
/// session or, without contexts, in runs of up to max_tokens. A text that is longer than the context is predicted in
/// windows: when the context is full, all but its last `overlap` tokens (fewer than the context) are dropped. Cost:
/// O(tokens) tokens run, times context / (context - overlap). `retrieve` finds texts for the chunks of a window, for
/// models that read them; may be null.
void foretell(Engine& engine, const std::string& text, uint32_t overlap, const Retrieve& retrieve, Likelihood* all);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_PERPLEXITY_H_
