// RETRO (Borgeaud et al. 2021, arXiv 2112.04426): a decoder whose tokens attend to what has been retrieved for the chunk of text in front of
// them, behind an encoder that sees the chunk. docs/retro.md says what stands in its directories.
#ifndef BANTAM_CONVERTER_NETWORK_FAMILIES_RETRO_H_
#define BANTAM_CONVERTER_NETWORK_FAMILIES_RETRO_H_

#include <cstdint>
#include <vector>

#include "graph/builder.h"
#include "network/stack.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// What settings say beside those of a decoder. Layers are numbered from 0 on, as tensors are; in files from 1 on, as in the paper.
struct RetroSettings {
  uint32_t chunk = 64, neighbours = 2, neighbour = 128;  // tokens of a chunk; texts for each, and tokens of such a text
  std::vector<bool> attends, encoder_attends;            // P and P_enc, a flag a layer
  uint32_t hidden = 896, layers = 2, heads = 16, head_width = 56, intermediate = 3584;  // of the encoder
  bool own_words = true;                                                                // it has a table of its own
  bool cross_places = true;
};
RetroSettings read_retro(const Fields& fields, const EncoderConfig& config);

/// The layers of both stacks, above the decoder's embeddings; `positions`: tokens of the longest text. Returns the rows of a chunk that the
/// encoder sees, an activation of the decoder. Sets what the model says of chunks.
int32_t add_retro_layers(Graph& graph, Builder& builder, Weights& weights, const EncoderConfig& config,
                         const RetroSettings& settings, uint32_t positions, Encoder* decoder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILIES_RETRO_H_
