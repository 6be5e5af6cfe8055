// The layers of the Evolved Transformer (So et al., arXiv 1901.11117, figure 3), of which Meena is made (arXiv 2001.09977).
#ifndef BANTAM_CONVERTER_NETWORK_FAMILIES_EVOLVED_TRANSFORMER_H_
#define BANTAM_CONVERTER_NETWORK_FAMILIES_EVOLVED_TRANSFORMER_H_

#include "graph/builder.h"
#include "network/families/config.h"
#include "network/stack.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// Puts the encoder layers of a family with Block::evolved on the embeddings of `encoder`, in the pass `phase`. What is wrong is added to the
/// problems of `weights`.
void add_evolved_encoder(Builder& builder, Weights& weights, const EncoderConfig& config, fb::Phase phase,
                         Encoder* encoder);

/// And the decoder layers on those of `decoder`, which attend to what `source` leaves. Problems go to those of `fields`, too.
void add_evolved_decoder(Builder& builder, Weights& weights, const EncoderConfig& config, const Fields& fields,
                         const Encoder& source, Encoder* decoder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILIES_EVOLVED_TRANSFORMER_H_
