// Attention by sums over keys (Performer, Linformer): its constants and operators.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_LINEAR_ATTENTION_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_LINEAR_ATTENTION_H_

#include <map>
#include <string>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "source/weights.h"

namespace bantam::convert {

class LinearAttention {
 public:
  /// References must outlive the object. `positions`: tokens of the longest text.
  LinearAttention(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t positions)
      : builder_(builder), weights_(weights), config_(config), positions_(positions) {}

  /// Adds the attention of layer `layer` over queries q [tokens, heads * head width], and over keys and values
  /// concatenated by columns.
  int32_t attend(uint32_t layer, int32_t q, int32_t keys_values);

 private:
  int32_t features(uint32_t layer);
  int32_t places(uint32_t layer, Slot slot);

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const uint32_t positions_;
  std::map<std::string, int32_t> made_;  // projections over positions by their tensors' names
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_LINEAR_ATTENTION_H_
