// Embeddings: the part in front of the layers of a stack, for words, places, segments and others, or for an image's
// patches.
#ifndef BANTAM_CONVERTER_NETWORK_EMBEDDINGS_H_
#define BANTAM_CONVERTER_NETWORK_EMBEDDINGS_H_

#include "network/blocks/modules.h"
#include "network/stack.h"

namespace bantam::convert {

/// Adds the inputs and returns their rows [tokens, hidden]. `side`: the prefix of names that both stacks of a pair
/// have. Gives `out` the tables that heads and a decoder share.
int32_t import_embeddings(Builder& builder, Weights& weights, const EncoderConfig& config, const Beside& beside,
                          Modules& modules, const std::string& side, uint32_t positions, Encoder* out);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_EMBEDDINGS_H_
