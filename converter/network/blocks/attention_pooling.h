// Pooling by attention (Lee et al., arXiv 1810.00825, with one seed; SigLIP, arXiv 2303.15343): what a learned query finds in the rows
// of an image, and a feed-forward layer behind it.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_ATTENTION_POOLING_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_ATTENTION_POOLING_H_

#include "graph/builder.h"
#include "network/settings/config.h"
#include "network/stack.h"
#include "source/weights.h"

namespace bantam::convert {

/// Adds rows [sequences, hidden] from the base model's tensors "head.probe" and those beside it. With p the probe, a =
/// softmax(q K^T / sqrt(width of a head)) V in each head, q = Wq p + bq, K and V made of the rows; o = Wo a + bo; o +
/// W2 f(W1 norm(o) + b1) + b2, f the model's activation. `after` is applied to that sum: its norm.
int32_t add_attention_pooling(Builder& builder, Weights& weights, const EncoderConfig& config, const Encoder& encoder,
                              const EpilogueSpec& after);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_ATTENTION_POOLING_H_
