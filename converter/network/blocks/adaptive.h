// Words in clusters; rarer words have fewer columns: adaptive inputs (Baevski and Auli, arXiv 1809.10853) and the
// adaptive softmax (Grave et al., arXiv 1609.04309), with the tensor names of transformers' Transformer-XL.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_ADAPTIVE_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_ADAPTIVE_H_

#include "network/settings/config.h"
#include "network/stack.h"
#include "source/weights.h"

namespace bantam::convert {

/// Adds rows of words [tokens, hidden]: rows of a cluster's table, widened by its matrix. Stores the tables in `out`.
int32_t embed_clusters(Builder& builder, Weights& weights, const EncoderConfig& config, const std::string& base,
                       Encoder* out);

/// Adds log probabilities of words [rows, vocabulary] for x [rows, hidden]. The clusters' output matrices are the
/// tables again if their values are equal.
int32_t score_clusters(Builder& builder, Weights& weights, const EncoderConfig& config, const Encoder& encoder,
                       int32_t x);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_ADAPTIVE_H_
