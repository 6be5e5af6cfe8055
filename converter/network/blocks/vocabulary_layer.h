// The output layer over the vocabulary: scores of tokens.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_VOCABULARY_LAYER_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_VOCABULARY_LAYER_H_

#include "network/heads.h"

namespace bantam::convert {

/// Adds `layer`, whose output is HeadLayer::Out::kVocabulary, over rows `x`; returns [rows, vocabulary]. Its matrix is
/// the word embeddings, unless the file has another one.
int32_t add_vocabulary_layer(const HeadContext& context, const HeadLayer& layer, int32_t x);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_VOCABULARY_LAYER_H_
