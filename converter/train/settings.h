// The settings of a training run: everything that decides its result, and nothing else (no paths, no progress).
#ifndef BANTAM_CONVERTER_TRAIN_SETTINGS_H_
#define BANTAM_CONVERTER_TRAIN_SETTINGS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "prune/prune.h"

namespace bantam::train {

/// Weights of the loss's parts; 0: the part is not computed.
struct LossWeights {
  double hard = 1;       // cross-entropy with the data's labels (regression: mean squared error)
  double soft = 0;       // Kullback-Leibler divergence from the teacher's softened outputs, times temperature^2
  double hidden = 0;     // mean squared error of hidden states, through a learned projection where widths differ
  double attention = 0;  // Kullback-Leibler divergence of attention probabilities
  double relation = 0;   // of relations between queries, keys and values (MiniLMv2, arXiv 2012.15828)
  bool needs_states() const { return hidden > 0 || attention > 0 || relation > 0; }
  bool needs_teacher() const { return soft > 0 || needs_states(); }
};

/// kEncoder freezes embeddings too; only the head is trained, or the decoder of an encoder-decoder.
enum class Freeze { kNothing, kEmbeddings, kEncoder };
enum class FakeQuant { kNone, kInt8, kInt4 };

enum class Precision { kF32, kBf16 };

/// The score of a weight: its magnitude; that times the norm of its input (Wanda, arXiv 2306.11695); or times the root
/// mean square of its gradient, which estimates the change of the loss without the weight (optimal brain damage, LeCun
/// et al. 1990, with the diagonal of the empirical Fisher matrix).
enum class PruneBy { kMagnitude, kActivations, kGradients };

/// Pruning in the encoder's linear layers.
struct PruneSettings {
  double sparsity = 0;            // at the end, in [0, 1)
  std::string pattern = "1x4";    // prune/prune.h
  double begin = 0.1, end = 0.6;  // of all steps: where zeros begin, and where there are all of them
  PruneBy by = PruneBy::kGradients;
  convert::PruneScope scope = convert::PruneScope::kGlobal;
};

struct Settings {
  LossWeights loss;
  double temperature = 2;
  double smoothing = 0;  // of next tokens as labels: so much of the probability is spread over the vocabulary
  /// (student layer, teacher layer), where 0 is the output of the embeddings; empty: evenly spread.
  std::vector<std::pair<uint32_t, uint32_t>> layers;
  uint32_t relation_heads = 0;  // 0: as many as the student has
  double learning_rate = 5e-4;
  double weight_decay = 0.01;
  double warmup = 0.05;  // of all steps
  double dropout = 0.1;
  double clip = 1;  // largest norm of the gradient
  double ema = 0;   // decay of the weights' moving average, which is then what is judged and written; 0: none
  uint32_t epochs = 3;
  uint32_t batch = 32;
  uint32_t patience = 0;  // epochs without a better score until it stops; 0: never
  uint64_t seed = 1;
  uint32_t threads = 1;                   // sums are grouped by thread, so their number decides bits too
  Precision precision = Precision::kF32;  // of matrix products while training; weights and scores stay f32
  Freeze freeze = Freeze::kNothing;
  FakeQuant quantize = FakeQuant::kNone;
  uint32_t group = 32;        // int4: weights that share a scale
  double quantize_begin = 0;  // of all steps
  PruneSettings prune;
};

/// Lists every setting by name, in one line: equal lines mean equal runs.
std::string describe(const Settings& settings);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_SETTINGS_H_
