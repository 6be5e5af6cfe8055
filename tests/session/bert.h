// Small random BERT-like models with a classifier over sequences and a tagger over tokens, and their forward pass in
// double precision, written as simply as possible, as the oracle.
#ifndef BANTAM_TESTS_SESSION_BERT_H_
#define BANTAM_TESTS_SESSION_BERT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/session/model_builder.h"

namespace bantam::testing {

struct BertShape {
  uint32_t layers = 2;
  uint32_t hidden = 40;
  uint32_t heads = 5;
  uint32_t ffn = 72;
  uint32_t vocabulary = 211;
  uint32_t positions = 96;
  uint32_t segments = 2;
  uint32_t labels = 3;
  uint32_t tags = 5;
  fb::ActivationKind activation = fb::ActivationKind::gelu;
  // Masks and positions of attention.
  fb::MaskKind mask = fb::MaskKind::none;
  uint32_t window = 0;
  int32_t filler = -1;     // the filler id of the masks with fillers
  uint32_t distances = 0;  // biases of distances below this number; 0: none
  bool slopes = false;
  uint32_t angles = 0;         // for rotary positions; 0: none
  bool head_norms = false;     // normalize queries and keys
  bool norms_behind = false;   // normalize after the rotation
  bool sinks = false;          // a sink for each head
  uint32_t placed = 0;         // distances that have a place, alone or shared; 0: no position scores
  bool shared_places = false;  // all heads share the places
  bool segment_keys = false;   // scores of keys in other segments
  // Settings for the masks of globals and of blocks.
  fb::GlobalTokens globals = fb::GlobalTokens::none;
  int32_t separator = -1;
  uint32_t dilation = 1;
  uint32_t block = 0, full_until = 0, random = 0;
  bool blocks_by_head = false;
  uint32_t before = 0, after = 0;  // rows before and after its own that the tagger reads
};

/// A shape with layers so wide that threads share them if there are few rows (runtime/ops/parts.h).
inline BertShape wide_shape() {
  BertShape shape;
  shape.layers = 1;
  shape.hidden = 192;
  shape.heads = 4;
  shape.ffn = 1024;
  return shape;
}

/// The number of places of position scores, if there are any.
constexpr uint32_t kPlaces = 32;

struct BertLayer {
  std::vector<float> head_norms;  // four rows of `hidden`, rounded up to 16
  std::vector<float> qkv, qkv_bias, out, out_bias, norm1, shift1, up, up_bias, down, down_bias, norm2, shift2;
};

struct Bert {
  BertShape shape;
  std::vector<float> words, places, types, norm, shift;
  // [heads][2 distances - 1], [heads], [positions][2 angles], [heads]
  std::vector<float> biases, slopes, rotary, sinks;
  // See Attention in the schema, with kPlaces places.
  std::vector<float> place_rows, place_keys, place_queries, segment_keys;
  std::vector<int32_t> random_blocks;
  std::vector<BertLayer> layers;
  std::vector<float> pool, pool_bias, classify, classify_bias, tag, tag_bias;
};

Bert random_bert(const BertShape& shape, uint32_t seed);

/// Builds the model as the converter would lower it. kI8: embeddings, encoder and pooler are int8; the two heads are
/// f32.
ModelBuilder build(const Bert& bert, WeightType type);

struct BertOutput {
  std::vector<double> logits;  // [sequences, labels]
  std::vector<double> tags;    // [tokens, tags]
};

BertOutput forward(const Bert& bert, const std::vector<int32_t>& ids, const std::vector<int32_t>& segments,
                   const std::vector<uint32_t>& offsets);

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_SESSION_BERT_H_
