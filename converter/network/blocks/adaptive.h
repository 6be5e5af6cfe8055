// Words in clusters, the rarer the fewer columns: adaptive inputs (Baevski and Auli, arXiv 1809.10853) and the adaptive softmax (Grave et
// al., arXiv 1609.04309), in the names that transformers gives Transformer-XL's.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_ADAPTIVE_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_ADAPTIVE_H_

#include "network/settings/config.h"
#include "network/stack.h"
#include "source/weights.h"

namespace bantam::convert {

/// Rows of words [tokens, hidden]: those of a cluster's table, widened by its matrix. Gives `out` the tables.
int32_t embed_clusters(Builder& builder, Weights& weights, const EncoderConfig& config, const std::string& base,
                       Encoder* out);

/// Logarithms of words' probabilities [rows, vocabulary] for x [rows, hidden]: the clusters' output layers, which are the tables again where
/// their values are the same.
int32_t score_clusters(Builder& builder, Weights& weights, const EncoderConfig& config, const Encoder& encoder,
                       int32_t x);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_ADAPTIVE_H_
