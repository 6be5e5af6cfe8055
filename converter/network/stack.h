// The stack of an encoder: embeddings and layers, built from its family's description.
#ifndef BANTAM_CONVERTER_NETWORK_STACK_H_
#define BANTAM_CONVERTER_NETWORK_STACK_H_

#include <string>
#include <vector>

#include "graph/builder.h"
#include "network/blocks/long_attention.h"
#include "network/settings/config.h"
#include "source/weights.h"

namespace bantam::convert {

/// The outputs of an imported encoder that heads use.
struct Encoder {
  int32_t hidden = kAbsent;  // last_hidden_state [tokens, hidden]
  int32_t gamma = kAbsent;   // of the last norm, if it is a decoder's
  int32_t beta = kAbsent;
  int32_t word_embeddings = kAbsent;  // for tied output layers
  std::string words;                  // the name of their tensor, relative to the base model
  std::vector<int32_t> clusters;      // tables of clusters of words, which replace word_embeddings
  int32_t sinusoids = kAbsent;        // rows of positions
  int32_t state = kAbsent;            // [sequences, hidden], the last state of recurrent layers if they output it
  int32_t more_scores = kAbsent;      // scores of the vocabulary that are added to the output layer's
  int32_t chunk_rows = kAbsent;       // rows of a chunk that the encoder of retrieved texts attends to
  std::string base;                   // prefix of names in the graph: "bert."
};

/// The context in which a stack is built.
struct Beside {
  fb::Phase phase = fb::Phase::main;
  /// The encoder whose rows a decoder's layers attend to; null: they attend to none.
  const Encoder* source = nullptr;
  /// Multiplies the last norm's output.
  float last_scale = 1;
  LongTexts long_texts;
};

/// Appends the encoder (or decoder) with its inputs for texts of up to `positions` tokens (1 or more).
Encoder import_encoder(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t positions,
                       const Beside& beside = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_STACK_H_
