// Vectors: the layers that compute one vector per text or image, or one per token, from the last layer's rows.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_VECTORS_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_VECTORS_H_

#include <string>
#include <vector>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "network/stack.h"
#include "source/fields.h"
#include "source/sentence_transformers.h"
#include "source/weights.h"

namespace bantam::convert {

/// Reads how vectors of `head` are computed: from the modules of sentence-transformers if present; otherwise as the
/// head itself defines (the row that it reads and its layer, if files have one: CLIP, SigLIP); otherwise the mean of
/// rows, which the settings of static tables may change.
SentencePooling read_vectors(const ModelSource& source, const Head& head, const EncoderConfig& config,
                             const Fields& fields, Weights& weights, Problems& problems,
                             std::vector<std::string>& notes);

/// Reads how vectors of tokens are computed; they have length 1.
SentencePooling read_token_vectors(const ModelSource& source, const Head& head, const EncoderConfig& config,
                                   Weights& weights, Problems& problems);

/// Adds the vectors of texts, or of images: rows [sequences, columns].
int32_t add_vector(Builder& builder, Weights& weights, const EncoderConfig& config, const Encoder& encoder,
                   const SentencePooling& pooling);

/// Adds the vectors of `rows` [tokens, columns], without attention pooling.
int32_t add_pooled_vector(Builder& builder, int32_t rows, const SentencePooling& pooling);

/// Divides each row of x by its Euclidean length.
int32_t add_unit_rows(Builder& builder, int32_t x);

/// Adds the vectors of tokens from `rows` [tokens, columns].
int32_t add_token_vectors(Builder& builder, int32_t rows, const SentencePooling& pooling);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_VECTORS_H_
