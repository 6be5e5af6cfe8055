// Compares two runs of the same texts; the quality gate judges the result.
#ifndef BANTAM_CONVERTER_SCORE_COMPARE_H_
#define BANTAM_CONVERTER_SCORE_COMPARE_H_

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "run/runner.h"
#include "score/confidence.h"

namespace bantam::convert {

/// A label that differs is a flip if the reference's logit led by more than this (of labels that are judged alone: was
/// so far from 0). Smaller leads change by rounding anywhere.
constexpr float kFlipMargin = 0.05f;

/// The place of the largest difference between two runs.
struct Place {
  std::string text;
  uint32_t row = 0;      // number of the token (0 for the whole sequence)
  std::string expected;  // labels, if the difference is a flip
  std::string got;
  float amount = 0;  // the reference's margin (flip) or |difference|
};

struct OutputComparison {
  std::string name;
  /// True if rows are logits of labels: the largest value is the decision (multi-label: each sign).
  bool decides = false;
  /// True if rows are scores of the next token. The likelihood of texts matters then, not the most likely token.
  bool continues = false;
  uint64_t vectors = 0;  // number of compared rows (or columns of token outputs of width 1)
  uint64_t decisions = 0;
  uint64_t differing = 0;  // decisions that are not the reference's
  uint64_t flips = 0;      // those of them with a lead above kFlipMargin
  float largest_difference = 0;
  /// Sum over decisions of the Kullback-Leibler divergence from the reference's probabilities, in nats.
  double divergence_sum = 0;
  /// The cosine of each vector; for outputs that decide, whose rows may have only two values, of all values together.
  double cosine = 1;
  double least_cosine = 1;
  double cosine_sum = 0;                      // over vectors
  double product = 0, square = 0, other = 0;  // of all values
  Place worst_flip;
  Place worst_difference;
  TextSums flipped;   // flips, over decisions
  TextSums distance;  // 1 - cosine, over vectors
  TextSums diverged;  // divergences, over decisions
  /// Returns the mean divergence per decision; 1 - cosine if the output does not decide anything.
  double divergence() const {
    if (!decides) return 1 - cosine;
    return decisions == 0 ? 0 : divergence_sum / static_cast<double>(decisions);
  }
  /// Returns the relative increase in perplexity on texts distributed as the reference predicts.
  double perplexity_rise() const { return std::exp(divergence()) - 1; }
  double flip_fraction() const {
    return decisions == 0 ? 0 : static_cast<double>(flips) / static_cast<double>(decisions);
  }
};

/// For how many labels of the data two runs are right.
struct ScoreComparison {
  std::string output;  // the output that predicts the labels
  uint64_t before = 0, after = 0;
  TextSums lost;  // right before minus right after
};

struct Comparison {
  std::string against;  // "f32 build", or the name of a file of expected outputs
  uint64_t texts = 0;
  uint64_t odd_texts = 0;  // additional texts, for differences of numbers only: their labels are not compared
  std::optional<ScoreComparison> score;  // if the texts have labels
  std::vector<OutputComparison> outputs;
  bool done() const { return texts > 0; }
  /// Returns the sum over the outputs.
  double divergence() const;
};

/// Accumulates comparisons text by text.
class Comparer {
 public:
  /// `model` supplies the task and the labels; it must outlive the comparer.
  Comparer(const fb::ModelT& model, std::string against);

  /// `reference` and `got` must have the same outputs in the same order. Token outputs are compared on the sample's
  /// content rows (positions, of width 1, on all rows). Counts one text; for odd texts records only the largest
  /// difference.
  void add(const Sample& sample, const std::vector<OutputRows>& reference, const std::vector<OutputRows>& got);
  /// Compares one output: row i of the reference corresponds to row rows[i] of `got`.
  void add_rows(const Sample& sample, const OutputRows& reference, const OutputRows& got,
                const std::vector<uint32_t>& rows);
  /// Counts one more text.
  void next_text(bool odd = false);
  /// Counts whether the outputs that predict a text's label predict `label` (an index; < 0: the text has none).
  void add_label(int64_t label, const OutputRows& reference, const OutputRows& got);

  const Comparison& result() const { return comparison_; }

 private:
  size_t entry(const std::string& name);
  void compare(size_t output, const Sample& sample, uint32_t row, const float* reference, const float* got,
               uint32_t count);
  void diverge(size_t output, double divergence);
  void decide(size_t output, const Sample& sample, uint32_t row, const float* reference, const float* got,
              uint32_t count);
  std::string label(const std::string& output, uint32_t index) const;
  /// Returns the parents in this output's label set if its labels are hierarchical; otherwise null.
  const std::vector<int32_t>* parents_of(const std::string& output) const;

  const fb::ModelT& model_;
  Comparison comparison_;
  /// The counts of the current text, one element per output.
  struct Counts {
    double flips = 0, decisions = 0, divergence = 0, distance = 0, vectors = 0;
  };
  std::vector<Counts> counts_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_COMPARE_H_
