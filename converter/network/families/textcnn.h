// Convolutions over tokens, from tensors as torch.nn.Conv1d and Conv2d name them.
#ifndef BANTAM_CONVERTER_NETWORK_FAMILIES_TEXTCNN_H_
#define BANTAM_CONVERTER_NETWORK_FAMILIES_TEXTCNN_H_

#include <string>
#include <vector>

#include "graph/builder.h"
#include "network/stack.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// What config.json says of them.
struct ConvolutionSettings {
  std::vector<uint32_t> sizes;  // tokens that the filters of each kind see
  uint32_t filters = 0;         // of each size
  uint32_t layers = 1;
  bool padded = false;  // with zeros, so that each token has a window; else only windows that lie within the text count
  fb::ActivationKind activation = fb::ActivationKind::relu;
  fb::PoolKind pooling = fb::PoolKind::max;

  uint32_t width() const { return static_cast<uint32_t>(sizes.size()) * filters; }
};

/// "kernel_sizes", "num_filters", "num_layers" (1), "padding" ("valid", or "same"), "activation" ("relu"), "pooling" ("max", or
/// "mean"). What is out of range is added to the problems. `of_tokens`: answers for each token are wanted, and so "same".
ConvolutionSettings read_convolutions(const Fields& fields, bool of_tokens);

/// Puts the layers of a family with Block::convolutions on its embeddings: the filters of all sizes of a layer are one matrix over
/// the widest window. `of_texts`: Encoder::state, too, a text's row. Tensors that are missing or of another shape are added to the
/// problems of `weights`.
void add_convolutions(Builder& builder, Weights& weights, const ConvolutionSettings& settings, bool of_texts,
                      Encoder* encoder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILIES_TEXTCNN_H_
