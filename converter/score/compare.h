// Compares two runs of the same texts: the measure of the quality gate.
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

/// Reference decisions closer than this between the best two labels are not counted as flips.
constexpr float kFlipMargin = 0.05f;

/// The place where two runs differ most.
struct Place {
  std::string text;
  uint32_t row = 0;      // token (or 0: the sequence)
  std::string expected;  // labels, when the difference is a flip
  std::string got;
  float amount = 0;  // the reference's margin (flip), or |difference|
};

struct OutputComparison {
  std::string name;
  /// True if rows are labels' logits: the largest value decides (or the sign, multi-label).
  bool decides = false;
  /// True if rows are scores of the next token: how likely texts are counts, not which token is the likeliest.
  bool continues = false;
  uint64_t vectors = 0;  // rows (or columns of one-wide token outputs) compared
  uint64_t decisions = 0;
  uint64_t flips = 0;
  float largest_difference = 0;
  /// Kullback-Leibler divergence of the probabilities from the reference's, in nats, over decisions.
  double divergence_sum = 0;
  /// The cosine of each vector; for deciding outputs (whose rows may have only two values) of everything at once.
  double cosine = 1;
  double least_cosine = 1;
  double cosine_sum = 0;                      // over vectors
  double product = 0, square = 0, other = 0;  // of everything
  Place worst_flip;
  Place worst_difference;
  TextSums flipped;   // flips of the texts' decisions
  TextSums distance;  // 1 - cosine, over vectors
  TextSums diverged;  // divergences, over decisions
  /// The mean divergence per decision; 1 - cosine if the output decides nothing.
  double divergence() const {
    if (!decides) return 1 - cosine;
    return decisions == 0 ? 0 : divergence_sum / static_cast<double>(decisions);
  }
  /// The rise in perplexity, as a fraction, on texts distributed as the reference expects.
  double perplexity_rise() const { return std::exp(divergence()) - 1; }
  double flip_fraction() const {
    return decisions == 0 ? 0 : static_cast<double>(flips) / static_cast<double>(decisions);
  }
};

/// The number of labels of the data that two runs name correctly.
struct ScoreComparison {
  std::string output;  // that names them
  uint64_t before = 0, after = 0;
  TextSums lost;  // right before minus right after
};

struct Comparison {
  std::string against;  // "f32 build", or the name of a file of expected outputs
  uint64_t texts = 0;
  uint64_t odd_texts = 0;                // more of them, that show differences of numbers and judge no labels
  std::optional<ScoreComparison> score;  // where the texts have labels
  std::vector<OutputComparison> outputs;
  bool done() const { return texts > 0; }
  /// Sum over the outputs.
  double divergence() const;
};

/// Gathers comparisons text by text.
class Comparer {
 public:
  /// `model` gives the task and the labels; it outlives the comparer.
  Comparer(const fb::ModelT& model, std::string against);

  /// `reference` and `got`: the same outputs in the same order. Token outputs are compared on the sample's
  /// content rows (positions, one wide, on all rows). Counts one text; of odd ones only the largest difference.
  void add(const Sample& sample, const std::vector<OutputRows>& reference, const std::vector<OutputRows>& got);
  /// One output: row i of the reference belongs to row rows[i] of `got`.
  void add_rows(const Sample& sample, const OutputRows& reference, const OutputRows& got,
                const std::vector<uint32_t>& rows);
  /// Counts one more text.
  void next_text(bool odd = false);
  /// Counts whether the outputs that name a text's label name `label` (an index; < 0: the text has none).
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
  /// Returns the parents in the label set of this output, if its labels stand above each other; else null.
  const std::vector<int32_t>* parents_of(const std::string& output) const;

  const fb::ModelT& model_;
  Comparison comparison_;
  /// The counts of the text that is being added, one element per output.
  struct Counts {
    double flips = 0, decisions = 0, divergence = 0, distance = 0, vectors = 0;
  };
  std::vector<Counts> counts_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_COMPARE_H_
