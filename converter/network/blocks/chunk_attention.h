// Attention by chunks (Reformer): its operators, the rotations of its hashes, and places by two axes.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_CHUNK_ATTENTION_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_CHUNK_ATTENTION_H_

#include <string>
#include <vector>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "source/weights.h"

namespace bantam::convert {

class ChunkAttention {
 public:
  /// All outlive the object. `positions`: tokens of the longest text.
  ChunkAttention(Builder& builder, const EncoderConfig& config, uint32_t positions)
      : builder_(builder), config_(config), positions_(positions) {}

  /// Adds the attention of layer `layer` over queries, keys and values side by side, or over queries and values where
  /// the layer hashes.
  int32_t attend(uint32_t layer, int32_t x);

 private:
  int32_t rotations(const std::vector<uint32_t>& buckets);

  Builder& builder_;
  const EncoderConfig& config_;
  const uint32_t positions_;
  int32_t rotations_ = kAbsent;  // of all layers
};

/// The rows of the first `positions` places by two axes: place p has row p / n of the first axis and, behind it, row p
/// % n of the second axis, which has n rows.
Values places_by_axes(Weights& weights, const EncoderConfig& config, uint32_t positions);

/// Tokens of the longest text where --max-tokens is not given: as many of the model's as keep the rows of places by
/// axes no larger than a large table of words.
uint32_t usual_positions(const EncoderConfig& config);

/// Adds the report's notes on hashes; none where the model has no hashes.
void describe_hashes(const EncoderConfig& config, uint32_t positions, std::vector<std::string>& notes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_CHUNK_ATTENTION_H_
