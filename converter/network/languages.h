// Languages of translators, by the tokens that name them.
#ifndef BANTAM_CONVERTER_NETWORK_LANGUAGES_H_
#define BANTAM_CONVERTER_NETWORK_LANGUAGES_H_

#include "graph/graph.h"

namespace bantam::convert {

/// Fills the languages of an encoder-decoder that generates, and where their tokens stand, from what the tokenizer of sources adds:
/// `__de__` (M2M-100), `deu_Latn` (NLLB), `de_DE` (mBART), `>>deu<<` (Marian); of those the tokens below `vocabulary`. Leaves the graph as it is where there are none.
void add_languages(Graph& graph, uint32_t vocabulary);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_LANGUAGES_H_
