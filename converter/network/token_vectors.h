// Models with one vector per token: resolves prefixes and fillers to tokens.
#ifndef BANTAM_CONVERTER_NETWORK_TOKEN_VECTORS_H_
#define BANTAM_CONVERTER_NETWORK_TOKEN_VECTORS_H_

#include "base/error.h"
#include "graph/graph.h"
#include "source/token_vectors.h"

namespace bantam::convert {

/// Stores the settings with the tokenizer's ids as a property (graph/late_interaction.h), and masks filler tokens of
/// queries in attention. Tokens that the tokenizer lacks are problems. O(tokens of the vocabulary).
void resolve_token_vectors(Graph& graph, const TokenVectorSettings& settings, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_TOKEN_VECTORS_H_
