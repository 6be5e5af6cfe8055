// Recurrent encoder-decoders: LSTM or GRU layers over a source, and layers that begin with what those end with.
#ifndef BANTAM_CONVERTER_NETWORK_FAMILIES_SEQ2SEQ_H_
#define BANTAM_CONVERTER_NETWORK_FAMILIES_SEQ2SEQ_H_

#include "graph/builder.h"
#include "network/stack.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// Puts the layers of both stacks on their embeddings: `source` and `decoder`, whose hidden rows become those of their last layers. What
/// the settings say of them: docs/recurrent.md. Problems are added to those of `fields` and `weights`.
void add_recurrent_pair(Builder& builder, Weights& weights, const Fields& fields, Encoder* source, Encoder* decoder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILIES_SEQ2SEQ_H_
