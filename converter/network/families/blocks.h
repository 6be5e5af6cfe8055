// Parts that several families share.
#ifndef BANTAM_CONVERTER_NETWORK_FAMILIES_BLOCKS_H_
#define BANTAM_CONVERTER_NETWORK_FAMILIES_BLOCKS_H_

#include <vector>

#include "network/family.h"

namespace bantam::convert {

using Activation = HeadLayer::Activation;
using Out = HeadLayer::Out;

/// BERT's roles, which many models kept.
Roles bert_roles();
/// The roles that layers of Falcon and BLOOM share.
Roles falcon_roles();
/// A layer's distance vectors in models that have "position_embedding_type": "relative_key".
inline constexpr const char* kDistanceEmbedding = "attention.self.distance_embedding";

/// Heads of one linear layer: a label per token, or the ends of a span.
Head tag_head();
Head answer_head();
/// tag_head() with a layer called "score".
Head score_tag_head();
/// One linear layer "classifier" over the pooler's row.
Head pooled_classify_head();
Head pooled_choose_head();
/// "classifier.dense" over the first token, the activation, and "classifier.out_proj".
Head first_classify_head(Activation activation);
/// RoBERTa's masked-language head "lm_head", with a norm of this name.
Head lm_head(const char* norm = "lm_head.layer_norm");
/// BERT's masked-language head, its next-sentence head, and both together.
std::vector<Head> cls_heads();
/// `heads`, with a copy of the masked-language head under `architecture`, a decoder class that has the same layers.
/// Files of that class without "is_decoder" compute the same.
std::vector<Head> with_language_model(std::vector<Head> heads, const char* architecture);
/// Heads without tensors of their own, or only with bantam's own: the bare encoder, its embeddings, intents with slots.
std::vector<Head> common_heads();
/// common_heads(), and the heads of BERT's classes, over the pooler and over each token.
std::vector<Head> pooler_heads();

/// Heads of a decoder: the next token (`generates`: the class, without the family's name), a label of the text from its
/// last token, the bare model, and its embeddings. `biased`: scores of the next token have biases.
std::vector<Head> decoder_heads(const char* generates, bool biased = false);
/// The head of encoder-decoders that labels a text from its last token, with a layer before the output layer.
Head source_classify_head();
/// The family of Llama and similar models: rotary positions, RMS norms, gated feed-forward layers, and heads that share
/// keys and values.
Family llama_like(const char* model_type, const char* architecture);

/// Adds the roles of expert layers: the router, and the modules of each expert ("{}": its number) or of all experts in
/// one tensor. `experts` is the operator's name in the graph.
void add_experts(Family& family, const char* router, const char* up, const char* gate, const char* down,
                 const char* experts);
/// Adds the roles of the experts that all tokens go through.
void add_shared_experts(Family& family, const char* up, const char* gate, const char* down);
/// `family` without the roles of dense feed-forward layers.
Family without_dense_layers(Family family);

/// Word vectors, layers above them, and a label of the text (Rows::kState), of each word, or both: models of torch
/// modules with documented names. `model_type` is also the base's name; `architecture` is the prefix of class names.
Family above_words(const char* model_type, const char* architecture);

/// The heads of `a`, then those of `b`.
std::vector<Head> joined(std::vector<Head> a, std::vector<Head> b);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILIES_BLOCKS_H_
