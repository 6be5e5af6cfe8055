// Attention by chunks (Reformer): its operators, the rotations of its hashes, and axial positions.
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
  /// References must outlive the object. `positions`: tokens of the longest text.
  ChunkAttention(Builder& builder, const EncoderConfig& config, uint32_t positions)
      : builder_(builder), config_(config), positions_(positions) {}

  /// Adds the attention of layer `layer` over queries, keys and values concatenated by columns; in layers that hash,
  /// over queries (which are also keys) and values.
  int32_t attend(uint32_t layer, int32_t x);

 private:
  int32_t rotations(const std::vector<uint32_t>& buckets);

  Builder& builder_;
  const EncoderConfig& config_;
  const uint32_t positions_;
  int32_t rotations_ = kAbsent;  // shared by all layers
};

/// The rows of the first `positions` axial positions: position p has row p / n of the first axis, followed by row p % n
/// of the second axis, which has n rows.
Values places_by_axes(Weights& weights, const EncoderConfig& config, uint32_t positions);

/// Tokens of the longest text without --max-tokens: the model's, or fewer if the rows of axial positions would be
/// larger than a large table of words.
uint32_t usual_positions(const EncoderConfig& config);

/// Adds the report's notes on hashes; none if the model does not hash.
void describe_hashes(const EncoderConfig& config, uint32_t positions, std::vector<std::string>& notes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_CHUNK_ATTENTION_H_
