// Embeddings: the part of a stack before its layers, for words, positions, segments and others, or for an image's
// patches.
#ifndef BANTAM_CONVERTER_NETWORK_EMBEDDINGS_H_
#define BANTAM_CONVERTER_NETWORK_EMBEDDINGS_H_

#include "network/blocks/modules.h"
#include "network/stack.h"

namespace bantam::convert {

/// Adds the inputs and returns their rows [tokens, hidden]. `side`: the prefix of names that encoder and decoder would
/// otherwise share. Stores in `out` the tables that heads and a decoder reuse.
int32_t import_embeddings(Builder& builder, Weights& weights, const EncoderConfig& config, const Beside& beside,
                          Modules& modules, const std::string& side, uint32_t positions, Encoder* out);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_EMBEDDINGS_H_
