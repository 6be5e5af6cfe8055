// Constants for scores of relative positions, computed from a family's tensors at import. The graph keeps only rows
// that distances select (Attention in the schema), not the family's own way of computing them.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_RELATIVE_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_RELATIVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "source/weights.h"

namespace bantam::convert {

/// Transformer-XL's scores (arXiv 1901.02860) are (q + w) k + (q + r) p for a key k and its relative position p;
/// distances are up to `farthest`.
struct ShiftedShape {
  uint32_t heads, head_width;
  uint32_t hidden;  // columns of the sinusoids that are projected to position keys
  uint32_t farthest;
  bool causal;  // tokens see no later tokens, so positions are only of earlier tokens

  uint32_t distances() const { return 2 * farthest + 1; }
  uint32_t places() const { return causal ? farthest + 1 : distances(); }
  /// The row of each distance: AttentionSpec::place_rows; all layers of a shape share it.
  std::vector<float> rows() const;
};

/// Adds their constants, called NAME.keys and NAME.biases. Queries of the graph are q + w, so a position adds (q + w) p
/// + (r - w) p: a product and a bias by distance. `words`, `of_places`: w and r, [heads, head_width]; `matrix`:
/// [hidden, heads * head_width]. O(distances * hidden^2).
void add_shifted(Builder& builder, const std::string& name, const ShiftedShape& shape, const Values& words,
                 const Values& of_places, Values matrix, int32_t rows, AttentionSpec* scores);

/// A tensor of a layer that is stored by head; if layers do not have their own, the model's ("untie_r" of
/// Transformer-XL).
Values take_by_head(Weights& weights, const EncoderConfig& config, uint32_t layer, Slot slot);

class RelativeConstants {
 public:
  /// References must outlive the object. `positions`: tokens of the longest text.
  RelativeConstants(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t positions);

  /// Sets the constants and the scale of a layer's attention; does nothing if no scores depend on relative positions.
  /// O(distances * hidden^2).
  void add(uint32_t layer, AttentionSpec& scores);

 private:
  void disentangled(uint32_t layer, AttentionSpec& scores);
  const std::vector<double>& place_embeddings();
  Values project_places(uint32_t layer, Slot slot, uint32_t columns, double scale);
  void shifted(uint32_t layer, AttentionSpec& scores);
  Values place_matrix(uint32_t layer);
  void of_segments(uint32_t layer, const Values& words, AttentionSpec& scores);
  void by_distance(uint32_t layer, AttentionSpec& scores);

  std::string name(uint32_t layer, const char* what) const;
  /// The row that each distance selects; all layers share it.
  int32_t rows(std::vector<float> of_distances);

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const Family& family_;
  const uint32_t positions_;
  int32_t rows_ = kAbsent;
  std::vector<double> places_;  // embeddings of relative positions
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_RELATIVE_H_
