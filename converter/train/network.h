// Network: executes an imported graph with torch, so that all models that the importer reads can be trained.
#ifndef BANTAM_CONVERTER_TRAIN_NETWORK_H_
#define BANTAM_CONVERTER_TRAIN_NETWORK_H_

#include <torch/types.h>

#include <map>
#include <vector>

#include "graph/graph.h"
#include "train/examples.h"
#include "train/parameters.h"
#include "train/settings.h"

namespace bantam::train {

/// A batch of sequences, padded to the longest. ids, segments: i64 [B, T]; mask: bool [B, T], true for tokens.
/// source_ids and source_mask [B, S] are the same for the sources of encoder-decoders. features: f32 [B, T, n] for
/// models that read features.
struct Rows {
  at::Tensor ids, segments, mask;
  at::Tensor source_ids, source_mask;
  at::Tensor features;
};

/// Pads `members`, in their order, to a batch.
Rows pad(const std::vector<const Encoded*>& members);

struct ForwardOptions {
  double dropout = 0;  // 0: as in inference
  FakeQuant quantize = FakeQuant::kNone;
  uint32_t group = 32;
  bool states = false;  // keep the states for losses on internal values; not for encoder-decoders
  Precision precision = Precision::kF32;
  bool input_squares = false;  // keep the mean squares of the inputs of linear layers
};

/// The inputs of one attention, all [B, heads, T, head width], and its probabilities [B, heads, T, T].
struct AttentionState {
  at::Tensor q, k, v, probabilities;
};

struct Forward {
  std::vector<at::Tensor> outputs;  // in the order of the model's outputs: [B, T, n] or [B, n]
  std::vector<at::Tensor> hidden;   // [B, T, n]: of the embeddings, then of each layer
  std::vector<AttentionState> attention;
  std::map<int32_t, at::Tensor>
      input_squares;  // by weight of the graph: mean square of each input [K], without padding
};

class Network {
 public:
  /// Both must outlive the network. Throws Error (unsupported) that names operators which training does not support.
  Network(const convert::Graph& graph, const Parameters& parameters);

  Forward run(const Rows& rows, const ForwardOptions& options) const;

  uint32_t layers() const { return layers_; }

 private:
  const convert::Graph& graph_;
  const Parameters& parameters_;
  uint32_t layers_ = 0;
};

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_NETWORK_H_
