// The place where a family builds its own layers (Family::own).
#ifndef BANTAM_CONVERTER_NETWORK_FAMILIES_OWN_OWN_LAYERS_H_
#define BANTAM_CONVERTER_NETWORK_FAMILIES_OWN_OWN_LAYERS_H_

#include "graph/builder.h"
#include "network/settings/config.h"
#include "network/stack.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// One pass whose embeddings are built. OwnLayers::add is called for each pass: for the encoder of an encoder-decoder before the
/// decoder's embeddings are built.
struct LayerSite {
  Graph& graph;
  Builder& builder;
  Weights& weights;  // missing tensors, and tensors of another shape, go to its problems
  const Fields& fields;
  Problems& problems;           // of all of these
  const EncoderConfig& config;  // of the pass
  fb::TaskKind task;
  uint32_t positions;  // tokens of the longest text
  fb::Phase phase;     // source: the encoder of an encoder-decoder
  Encoder* source;     // what that encoder left, for its decoder; else null
  Encoder* encoder;    // the embeddings, which the layers replace

  bool of_texts() const;   // the task has one answer a text, or one vector
  bool of_tokens() const;  // the task has answers for words, or there is none
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILIES_OWN_OWN_LAYERS_H_
