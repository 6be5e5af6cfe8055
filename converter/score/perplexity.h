// Measures how likely a decoder finds texts.
#ifndef BANTAM_CONVERTER_SCORE_PERPLEXITY_H_
#define BANTAM_CONVERTER_SCORE_PERPLEXITY_H_

#include <cstdint>
#include <string>

#include "run/chunks.h"
#include "run/engine.h"

namespace bantam::convert {

/// The likelihood of one text or of several.
struct Likelihood {
  uint64_t tokens = 0;  // that were foretold: all but each text's first
  uint64_t bytes = 0;   // of the texts
  double log = 0;       // natural logarithm of the tokens' probability

  /// exp(-log / tokens); 1 without tokens.
  double perplexity() const;
  double bits_per_byte() const;
};

/// Adds the likelihood of `text` to `all`: predicts each token from those in front of it, in context 0 of the engine's
/// session or, if it keeps none, in runs of up to max_tokens. Predicts a text that is longer than the context in
/// windows: when the context is full, forgets all but its last `overlap` tokens (less than the context). Cost: running
/// O(tokens) tokens, times context / (context - overlap). `retrieve`: texts for the chunks of a window, for models that
/// read them; may be null.
void foretell(Engine& engine, const std::string& text, uint32_t overlap, const Retrieve& retrieve, Likelihood* all);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_PERPLEXITY_H_
