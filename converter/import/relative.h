// Constants of scores by relative places, made of a family's tensors when a model is imported: nothing is left of how a family
// computes them but rows that distances select (Attention in the schema).
#ifndef BANTAM_CONVERTER_IMPORT_RELATIVE_H_
#define BANTAM_CONVERTER_IMPORT_RELATIVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "import/families/config.h"
#include "import/source/weights.h"

namespace bantam::convert {

/// A tensor of a layer that is stored by head; where layers have none of their own, the model's ("untie_r" of Transformer-XL).
Values take_by_head(Weights& weights, const EncoderConfig& config, uint32_t layer, Slot slot);

class RelativeConstants {
 public:
  /// All outlive the object. `positions`: tokens of the longest text.
  RelativeConstants(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t positions);

  /// Gives attention of a layer its constants and its scale; nothing where the model has no scores of relative places.
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
  /// Rows that distances select, the same in all layers.
  int32_t rows(std::vector<float> of_distances);

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const Family& family_;
  const uint32_t positions_;
  int32_t rows_ = kAbsent;
  std::vector<double> places_;  // embeddings of relative places
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_IMPORT_RELATIVE_H_
