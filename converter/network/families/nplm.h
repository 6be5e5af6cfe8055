// The layers of a neural probabilistic language model (Bengio et al., "A Neural Probabilistic Language Model", JMLR 3, 2003).
#ifndef BANTAM_CONVERTER_NETWORK_FAMILIES_NPLM_H_
#define BANTAM_CONVERTER_NETWORK_FAMILIES_NPLM_H_

#include "graph/builder.h"
#include "network/stack.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// What heads want of the layers.
struct NplmUse {
  bool gives_words = false;  // Encoder::more_scores
  bool keep_state = false;   // Encoder::state: the last token's row
};

/// Puts the layers of a family with Block::nplm on its embeddings: tanh(d + H x), x the vectors of each token and of those in front of it side
/// by side. Where a text has no such tokens, the vector of "pad_token_id" stands, or zeros. What is wrong is added to the problems of
/// `weights` and `fields`.
void add_nplm_layers(Builder& builder, Weights& weights, const Fields& fields, const NplmUse& use, Encoder* encoder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILIES_NPLM_H_
