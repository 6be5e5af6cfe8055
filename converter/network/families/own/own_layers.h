// The interface through which a family builds its own layers (Family::own).
#ifndef BANTAM_CONVERTER_NETWORK_FAMILIES_OWN_OWN_LAYERS_H_
#define BANTAM_CONVERTER_NETWORK_FAMILIES_OWN_OWN_LAYERS_H_

#include "graph/builder.h"
#include "network/settings/config.h"
#include "network/stack.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// One pass, after its embeddings are built. OwnLayers::add is called for each pass; for the encoder of an
/// encoder-decoder it runs before the decoder's embeddings are built.
struct LayerSite {
  Graph& graph;
  Builder& builder;
  Weights& weights;  // reports missing tensors and tensors of another shape as problems
  const Fields& fields;
  Problems& problems;           // problems of all of these
  const EncoderConfig& config;  // of the pass
  fb::TaskKind task;
  uint32_t positions;  // tokens of the longest text
  fb::Phase phase;     // source: the encoder of an encoder-decoder
  Encoder* source;     // for a decoder: the encoder's outputs; otherwise null
  Encoder* encoder;    // the embeddings; the layers replace its outputs

  bool of_texts() const;   // the task has one result or one vector per text
  bool of_tokens() const;  // the task has a result per word, or there is no task
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILIES_OWN_OWN_LAYERS_H_
