// Chooses the type of each matrix from measured costs (sensitivity.h), so that a model stays within a budget.
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
  uint64_t saved = 0;     // bytes of the file, relative to f32
  double divergence = 0;  // of the outputs, relative to f32 (Comparison::divergence)
  double loss = 0;        // increase of the cross-entropy with the data's labels, in nats; may be negative
  uint64_t flips = 0;     // number of labels that differ from f32
};

struct MatrixCosts {
  std::string name;
  std::string kind;  // embeddings, attention, ffn, heads
  uint64_t elements = 0;
  bool multiplies = false;      // a linear layer: its elements are the products per token (or per sequence)
  std::vector<TypeCost> types;  // measured types, without f32
};

struct Sensitivity {
  std::string model;
  /// The file of texts, relative to the folder of the costs file; "": unknown.
  std::string data;
  std::string data_sha256;
  uint64_t texts = 0;
  uint64_t decisions = 0;   // number of labels that could flip
  uint64_t file_bytes = 0;  // in f32
  bool has_loss = false;
  double loss = 0;  // cross-entropy of the f32 model
  double accuracy = 0;
  std::vector<MatrixCosts> matrices;
};

enum class BudgetKind { kSize, kLoss, kLatency };

struct Budget {
  BudgetKind kind = BudgetKind::kSize;
  double limit = 0;  // bytes; divergence in nats; or time relative to f32 linear layers
};

/// Parses "size=8MB" (base/readable.h: 1 MB = 10^6 bytes, 1 MiB = 2^20), "loss=0.01", "latency=0.4". Throws Error
/// (usage).
Budget parse_budget(const std::string& text);

/// The time of a product in `type` relative to f32: minimum times of whole passes of minilm-sst2 at 32 tokens, measured
/// with `bantam bench` on a Zen 4 core with AVX-512 VNNI (6.6, 1.8 and 2.3 ms in f32, int8 and int4). They are
/// constants here because numbers in a file must not depend on a stopwatch.
double relative_time(fb::DType type);

struct Choice {
  std::vector<fb::DType> types;  // one per matrix, in order
  uint64_t file_bytes = 0;       // predicted
  double divergence = 0;         // predicted: the sum over the matrices
  double latency = 1;            // predicted, in the unit of Budget
};

/// A greedy choice: starting from f32, repeatedly makes the change with the least divergence per saved byte (latency:
/// per saved time of its products), until size or latency is within the limit; for a loss, makes as many such changes
/// as the limit allows. Takes the first of equal changes. For a latency limit, embedding tables, which take no time,
/// are i8 from the start. Throws Error (invalid) if no choice of the measured types is within a size or latency limit.
/// O(changes * matrices * types).
Choice choose_within(const Sensitivity& measured, const Budget& budget);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_BUDGET_H_
