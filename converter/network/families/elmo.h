// The layers of a bidirectional language model (ELMo, arXiv 1802.05365), from tensors as torch names them.
#ifndef BANTAM_CONVERTER_NETWORK_FAMILIES_ELMO_H_
#define BANTAM_CONVERTER_NETWORK_FAMILIES_ELMO_H_

#include "graph/builder.h"
#include "network/stack.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// Puts the layers of a family with Block::bilm on its embeddings: a stack of recurrent layers for each direction, which reads that direction
/// alone, and the sum of words and layers that "mix.weights" asks for, both directions side by side. `keep_state`: Encoder::state, too, what
/// each direction ends with. What is wrong is added to the problems of `weights` and `fields`.
void add_bilm_layers(Builder& builder, Weights& weights, const Fields& fields, bool keep_state, Encoder* encoder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILIES_ELMO_H_
