// Pooling by attention (Lee et al., arXiv 1810.00825, with one seed; SigLIP, arXiv 2303.15343): a learned query attends
// to the rows of an image, and a feed-forward layer follows.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_ATTENTION_POOLING_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_ATTENTION_POOLING_H_

#include "graph/builder.h"
#include "network/settings/config.h"
#include "network/stack.h"
#include "source/weights.h"

namespace bantam::convert {

/// Adds rows [sequences, hidden] from the base model's "head.probe" and the other tensors of "head.". With p the probe
/// and K, V computed from the rows: q = Wq p + bq; a = softmax(q K^T / sqrt(head width)) V in each head; o = Wo a + bo;
/// the result is o + W2 f(W1 norm(o) + b1) + b2, where f is the model's activation. `after` is applied to that sum, for
/// example a norm.
int32_t add_attention_pooling(Builder& builder, Weights& weights, const EncoderConfig& config, const Encoder& encoder,
                              const EpilogueSpec& after);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_ATTENTION_POOLING_H_
