// How likely a decoder finds texts.
#ifndef BANTAM_CONVERTER_SCORE_PERPLEXITY_H_
#define BANTAM_CONVERTER_SCORE_PERPLEXITY_H_

#include <cstdint>
#include <string>

#include "run/chunks.h"
#include "run/engine.h"

namespace bantam::convert {

/// Of one text or of several.
struct Likelihood {
  uint64_t tokens = 0;  // that were foretold: all but each text's first
  uint64_t bytes = 0;   // of the texts
  double log = 0;       // natural logarithm of the tokens' probability

  /// exp(-log / tokens); 1 without tokens.
  double perplexity() const;
  double bits_per_byte() const;
};

/// Adds what `text` has to `all`: each token by those in front of it, in context 0 of the engine's session or, where it keeps none, in runs of up to max_tokens. A text that is longer than the context is foretold in
/// windows: when the context is full, all but its last `overlap` tokens are forgotten (less than the context). O(tokens) runs'
/// worth, times context / (context - overlap). `retrieve`: texts for the chunks of a window, of models that read them; may be null.
void foretell(Engine& engine, const std::string& text, uint32_t overlap, const Retrieve& retrieve, Likelihood* all);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_PERPLEXITY_H_
