// Languages of translation models, found by the tokens that name them.
#ifndef BANTAM_CONVERTER_NETWORK_LANGUAGES_H_
#define BANTAM_CONVERTER_NETWORK_LANGUAGES_H_

#include "graph/graph.h"

namespace bantam::convert {

/// Fills in the languages of a generating encoder-decoder, and the place of their tokens, from the added tokens of the
/// source tokenizer: `__de__` (M2M-100), `deu_Latn` (NLLB), `de_DE` (mBART), `>>deu<<` (Marian). Ignores tokens with
/// ids from `vocabulary` on. Without such tokens the graph stays as it is.
void add_languages(Graph& graph, uint32_t vocabulary);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_LANGUAGES_H_
