// How a family names the parts of an encoder's layer.
#ifndef BANTAM_CONVERTER_IMPORT_LAYER_NAMES_H_
#define BANTAM_CONVERTER_IMPORT_LAYER_NAMES_H_

#include "import/source/config.h"

namespace bantam::convert {

/// Layer N's tensors are "STACK.N.PART.weight" and ".bias", relative to the base model.
struct LayerNames {
  const char* stack;
  const char *query, *key, *value, *qkv;  // qkv: our name of the three together
  const char *out, *out_norm;
  const char *up, *down, *down_norm;
  const char *heads, *attention;  // our names of operators without weights
};

const LayerNames& layer_names(Family family);

/// Part of factorised embeddings that only bantam's own layouts have: [hidden, rank], and a bias.
constexpr const char* kEmbeddingProjection = "embeddings.word_projection";

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_IMPORT_LAYER_NAMES_H_
