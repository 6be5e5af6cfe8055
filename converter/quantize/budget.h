// Chooses the type of each matrix from measured costs (sensitivity.h), so that a model keeps within a budget.
#ifndef BANTAM_CONVERTER_QUANTIZE_BUDGET_H_
#define BANTAM_CONVERTER_QUANTIZE_BUDGET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// The effect on the whole model of storing one matrix in `type`, and all others in f32.
struct TypeCost {
  fb::DType type = fb::DType::f32;
  uint64_t saved = 0;     // bytes of the file, against f32
  double divergence = 0;  // of the outputs from f32's (Comparison::divergence)
  double loss = 0;        // more cross-entropy with the data's labels, in nats; may be below 0
  uint64_t flips = 0;     // of labels, against f32
};

struct MatrixCosts {
  std::string name;
  std::string kind;  // embeddings, attention, ffn, heads
  uint64_t elements = 0;
  bool multiplies = false;      // a linear layer: elements are products a token (or a sequence)
  std::vector<TypeCost> types;  // measured ones; f32 is not among them
};

struct Sensitivity {
  std::string model;
  std::string data;  // the file of texts, as seen from the folder of the file of costs; "": not known
  std::string data_sha256;
  uint64_t texts = 0;
  uint64_t decisions = 0;   // labels that could flip
  uint64_t file_bytes = 0;  // in f32
  bool has_loss = false;
  double loss = 0;  // cross-entropy of the f32 model
  double accuracy = 0;
  std::vector<MatrixCosts> matrices;
};

enum class BudgetKind { kSize, kLoss, kLatency };

struct Budget {
  BudgetKind kind = BudgetKind::kSize;
  double limit = 0;  // bytes; divergence in nats; share of the time of f32 linear layers
};

/// "size=8MB" (base/readable.h: 1 MB = 10^6 bytes, 1 MiB = 2^20), "loss=0.01", "latency=0.4". Throws Error (usage).
Budget parse_budget(const std::string& text);

/// Time of a product in `type` as a share of one in f32: least times of whole passes of minilm-sst2 at 32 tokens, `bantam
/// bench`, on a Zen 4 core with AVX-512 VNNI (6.6, 1.8 and 2.3 ms in f32, int8 and int4). Numbers in a file never come from a stopwatch, so they are written here.
double relative_time(fb::DType type);

struct Choice {
  std::vector<fb::DType> types;  // one a matrix, in order
  uint64_t file_bytes = 0;       // predicted
  double divergence = 0;         // predicted: the sum of the single ones
  double latency = 1;            // predicted, as Budget's
};

/// Chooses greedily: starting from f32, makes the change with the least divergence for each byte (latency: for each
/// product's time) that it saves, until size or latency keeps within the limit; for a loss, makes as many such changes
/// as keep within it. Among equal changes it takes the first. If the limit is a latency, tables of embeddings, which
/// take no time, are i8 from the start. Throws Error (invalid) when no choice of the measured types keeps within a size
/// or latency. O(changes * matrices * types).
Choice choose_within(const Sensitivity& measured, const Budget& budget);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_BUDGET_H_
