// Magnitude pruning: sets the smallest weights to 0 (Han et al., arXiv 1506.02626), one by one or in blocks that
// kernels skip.
#ifndef BANTAM_CONVERTER_PRUNE_PRUNE_H_
#define BANTAM_CONVERTER_PRUNE_PRUNE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/round.h"

namespace bantam::convert {

/// The weights that become 0 together. 1x4: four inputs of one output, which kernels skip. 2:4: two of every four
/// inputs of an output. 4x16: four inputs of 16 outputs. heads, ffn: whole attention heads, or columns between a
/// layer's feed-forward matrices, which are removed (structured.h).
enum class PrunePattern : uint8_t { kUnstructured = 0, k1x4, k2of4, k4x16, kHeads, kFfn };
constexpr PrunePattern kZeroPatterns[] = {PrunePattern::kUnstructured, PrunePattern::k1x4, PrunePattern::k2of4,
                                          PrunePattern::k4x16};
constexpr PrunePattern kPrunePatterns[] = {PrunePattern::kUnstructured, PrunePattern::k1x4,   PrunePattern::k2of4,
                                           PrunePattern::k4x16,         PrunePattern::kHeads, PrunePattern::kFfn};
inline bool is_structured(PrunePattern pattern) {
  return pattern == PrunePattern::kHeads || pattern == PrunePattern::kFfn;
}
/// global: the smallest weights of all layers; uniform: the same fraction of each layer.
enum class PruneScope : uint8_t { kGlobal = 0, kUniform };

struct PruneOptions {
  double share = 0;  // fraction of the weights of linear layers (heads, columns), in [0, 1); 0: no pruning
  PrunePattern pattern = PrunePattern::k1x4;
  PruneScope scope = PruneScope::kGlobal;
  /// If true, ranks weights by their magnitude times the norm of their input on calibration texts (Wanda, arXiv
  /// 2306.11695). The default is true only for heads and columns: it costs a second, and magnitude alone says little
  /// about them (README.md has figures).
  std::optional<bool> by_activation;

  bool measured() const { return by_activation.value_or(is_structured(pattern)); }
  bool zeros() const { return share > 0 && !is_structured(pattern); }
  bool structures() const { return share > 0 && is_structured(pattern); }
  /// Returns true for zeros that kernels do not skip: they can only reduce the file size.
  bool scattered() const {
    return zeros() && (pattern == PrunePattern::kUnstructured || pattern == PrunePattern::k2of4);
  }
};

/// pattern_name() returns "unstructured", "1x4", "2:4", "4x16", "heads" or "ffn"; parse_zero_pattern() parses the first
/// four. Throws Error (usage) for any other name.
const char* pattern_name(PrunePattern pattern);
PrunePattern parse_zero_pattern(const std::string& name);

/// Weights [rows, columns], owned by the caller.
struct PrunedMatrix {
  float* values;
  size_t rows, columns;
};

/// Sets the blocks with the smallest sums of squares to 0: the fewest that make up `share` of all matrices, or of each
/// (`scope`). 2:4 takes two of four for any share above 0. O(weights).
void prune_matrices(const std::vector<PrunedMatrix>& matrices, PrunePattern pattern, double share, PruneScope scope);

/// Describes the problem with a share that is outside [0, 1), or not 0.5 with 2:4; "" if there is none.
std::string prune_problem(const PruneOptions& options);

/// Sets weights of the linear layers that `types` quantizes to 0; skips embedding tables, and output heads that stay
/// f32. `moments` are those of the layers' inputs, if by_activation requires them. Prunes the fewest blocks that make
/// up at least `share`; among equal scores, the first ones. Structured patterns prune nothing here. The same graph and
/// options give the same weights. O(weights).
void prune(Graph& graph, const PruneOptions& options, const TypeOptions& types, const InputMoments& moments);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PRUNE_PRUNE_H_
