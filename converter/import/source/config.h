// EncoderConfig: what config.json says about a BERT-family encoder.
#ifndef BANTAM_CONVERTER_IMPORT_SOURCE_CONFIG_H_
#define BANTAM_CONVERTER_IMPORT_SOURCE_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam_generated.h"
#include "import/source/fields.h"

namespace bantam::convert {

enum class Family { kBert, kDistilBert };

/// Widths that transformers' own settings cannot express, one value a layer; config.json's "bantam_layout" (see
/// ../student). Without it every layer has the same.
struct LayerWidths {
  std::vector<uint32_t> heads;         // attention heads
  std::vector<uint32_t> intermediate;  // columns between the two feed-forward layers
  /// The layer whose matrices each layer shares: itself, or an earlier one.
  std::vector<uint32_t> shared;
};

struct EncoderConfig {
  Family family = Family::kBert;
  std::string model_type = "bert";  // also the base model's name in weights
  uint32_t vocabulary = 0;
  uint32_t hidden = 0;
  uint32_t layers = 0;
  uint32_t heads = 0;
  uint32_t intermediate = 0;
  uint32_t positions = 0;  // rows of the position table in the source
  uint32_t segments = 0;   // rows of the segment table; 0: the model has none
  fb::ActivationKind activation = fb::ActivationKind::gelu;
  float epsilon = 1e-12F;
  bool tie_embeddings = true;
  uint32_t head_width = 0;
  LayerWidths widths;
  uint32_t embedding_rank = 0;  // columns of the word embeddings, before a projection to `hidden`; 0: no projection
};

/// Reads the encoder's settings, with transformers' defaults. Settings that version 1 cannot express are
/// added to the problems as unsupported; values out of range as invalid.
EncoderConfig read_encoder_config(const Fields& config);

/// An activation by transformers' name; records a problem under `key` when it is unknown.
fb::ActivationKind read_activation(const Fields& config, const std::string& key, const std::string& otherwise);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_IMPORT_SOURCE_CONFIG_H_
