// The settings of a training run: everything that affects its result, and nothing else (no paths, no progress).
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
  double hidden = 0;     // mean squared error of hidden states, through a learned projection if widths differ
  double attention = 0;  // Kullback-Leibler divergence of attention probabilities
  double relation = 0;   // relations among queries, among keys and among values (MiniLMv2, arXiv 2012.15828)
  bool needs_states() const { return hidden > 0 || attention > 0 || relation > 0; }
  bool needs_teacher() const { return soft > 0 || needs_states(); }
};

/// kEncoder also freezes embeddings: only the head is trained, or the decoder of an encoder-decoder.
enum class Freeze { kNothing, kEmbeddings, kEncoder };
enum class FakeQuant { kNone, kInt8, kInt4 };

enum class Precision { kF32, kBf16 };

/// The score of a weight: its magnitude; its magnitude times the norm of its input (Wanda, arXiv 2306.11695); or its
/// magnitude times the root mean square of its gradient, which estimates the change of the loss without the weight
/// (optimal brain damage, LeCun et al. 1990, with the diagonal of the empirical Fisher matrix).
enum class PruneBy { kMagnitude, kActivations, kGradients };

/// Pruning of the encoder's linear layers.
struct PruneSettings {
  double sparsity = 0;          // final fraction of zeros, in [0, 1)
  std::string pattern = "1x4";  // prune/prune.h
  // Fractions of all steps: when pruning begins, and when the final sparsity is reached.
  double begin = 0.1, end = 0.6;
  PruneBy by = PruneBy::kGradients;
  convert::PruneScope scope = convert::PruneScope::kGlobal;
};

struct Settings {
  LossWeights loss;
  double temperature = 2;
  // For next tokens as labels: the fraction of the probability that is spread over the vocabulary.
  double smoothing = 0;
  /// (student layer, teacher layer), where 0 is the output of the embeddings; empty: evenly spaced.
  std::vector<std::pair<uint32_t, uint32_t>> layers;
  uint32_t relation_heads = 0;  // 0: the student's number of heads
  double learning_rate = 5e-4;
  double weight_decay = 0.01;
  double warmup = 0.05;  // fraction of all steps
  double dropout = 0.1;
  double clip = 1;  // largest norm of the gradient
  double ema = 0;   // decay of the moving average of the weights, which is then evaluated and written; 0: none
  uint32_t epochs = 3;
  uint32_t batch = 32;
  uint32_t patience = 0;  // epochs without a better score before training stops; 0: never
  uint64_t seed = 1;
  uint32_t threads = 1;                   // sums are grouped by thread, so the number of threads affects bits too
  Precision precision = Precision::kF32;  // of matrix products during training; weights and scores stay f32
  Freeze freeze = Freeze::kNothing;
  FakeQuant quantize = FakeQuant::kNone;
  uint32_t group = 32;        // int4: number of weights that share a scale
  double quantize_begin = 0;  // fraction of all steps
  PruneSettings prune;
};

/// Returns every setting by name in one line; equal lines mean equal runs.
std::string describe(const Settings& settings);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_SETTINGS_H_
