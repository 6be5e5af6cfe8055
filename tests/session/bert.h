// Small random BERT-like models with a classifier over sequences and a tagger over tokens; and their forward
// pass in double precision, written as plainly as possible, as the oracle.
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
  int32_t filler = -1;     // the id that masks of fillers know
  uint32_t distances = 0;  // biases of distances up to this minus 1; 0: none
  bool slopes = false;
  uint32_t angles = 0;         // of rotary positions; 0: none
  bool head_norms = false;     // of queries and keys
  bool norms_behind = false;   // they come behind rotary positions
  bool sinks = false;          // of each head
  uint32_t placed = 0;         // distances with a place of their own or shared; 0: no scores of places
  bool shared_places = false;  // by all heads
  bool segment_keys = false;   // scores of keys of another segment
  // Settings of the masks of globals and of blocks.
  fb::GlobalTokens globals = fb::GlobalTokens::none;
  int32_t separator = -1;
  uint32_t dilation = 1;
  uint32_t block = 0, full_until = 0, random = 0;
  bool blocks_by_head = false;
  uint32_t before = 0, after = 0;  // rows beside its own that the tagger reads
};

/// One with layers so wide that threads share them where rows are few (runtime/ops/parts.h).
inline BertShape wide_shape() {
  BertShape shape;
  shape.layers = 1;
  shape.hidden = 192;
  shape.heads = 4;
  shape.ffn = 1024;
  return shape;
}

/// Places that scores have, if they have any.
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
  // As Attention in the schema says, of kPlaces places.
  std::vector<float> place_rows, place_keys, place_queries, segment_keys;
  std::vector<int32_t> random_blocks;
  std::vector<BertLayer> layers;
  std::vector<float> pool, pool_bias, classify, classify_bias, tag, tag_bias;
};

Bert random_bert(const BertShape& shape, uint32_t seed);

/// The model as the converter would lower it. kI8: embeddings, encoder, pooler int8; the two heads f32.
ModelBuilder build(const Bert& bert, WeightType type);

struct BertOutput {
  std::vector<double> logits;  // [sequences, labels]
  std::vector<double> tags;    // [tokens, tags]
};

BertOutput forward(const Bert& bert, const std::vector<int32_t>& ids, const std::vector<int32_t>& segments,
                   const std::vector<uint32_t>& offsets);

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_SESSION_BERT_H_
