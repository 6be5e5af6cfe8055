// Parts that several families have in common.
#ifndef BANTAM_CONVERTER_NETWORK_FAMILIES_BLOCKS_H_
#define BANTAM_CONVERTER_NETWORK_FAMILIES_BLOCKS_H_

#include <vector>

#include "network/family.h"

namespace bantam::convert {

using Activation = HeadLayer::Activation;
using Out = HeadLayer::Out;

/// BERT's tensors, which many models kept.
Roles bert_roles();
/// Names of modules in layers of Falcon and BLOOM.
Roles falcon_roles();
/// The distance vectors of a layer, in models that have "position_embedding_type": "relative_key".
inline constexpr const char* kDistanceEmbedding = "attention.self.distance_embedding";

/// Heads that are one linear layer: a label a token, the ends of a span.
Head tag_head();
Head answer_head();
/// The first of these where the layer is called "score".
Head score_tag_head();
/// One linear layer "classifier" on the pooler's row.
Head pooled_classify_head();
Head pooled_choose_head();
/// "classifier.dense" on the first token, the activation, and "classifier.out_proj".
Head first_classify_head(Activation activation);
/// RoBERTa's masked-language head "lm_head", whose norm is called so.
Head lm_head(const char* norm = "lm_head.layer_norm");
/// BERT's masked-language and next-sentence heads, and both.
std::vector<Head> cls_heads();
/// `heads`, and the masked-language head among them under the name of a class that has the same layers for decoders. Files of
/// that class whose settings do not say "is_decoder" compute the same.
std::vector<Head> with_language_model(std::vector<Head> heads, const char* architecture);
/// Heads that need no tensors of their own, or only bantam's own: the bare encoder, its embeddings, intents with slots.
std::vector<Head> common_heads();
/// common_heads(), and the heads of BERT's classes: of the pooler, and of each token.
std::vector<Head> pooler_heads();

/// Heads of a decoder: the next token by the class that `generates` names behind the family's name, a label of the text
/// by its last token, the bare model, and its embeddings. `biased`: scores of the next token have biases.
std::vector<Head> decoder_heads(const char* generates, bool biased = false);
/// The head of encoder-decoders that labels a text by its last token, behind a layer of its own.
Head source_classify_head();
/// The family of Llama and models like it: rotary positions, RMS norms, gated feed-forward layers, keys and values that
/// heads share.
Family llama_like(const char* model_type, const char* architecture);

/// Adds the modules of layers of experts: the router, and of each expert ("{}": its number) or of all in one tensor those of a dense layer.
/// `experts` is their name in the graph.
void add_experts(Family& family, const char* router, const char* up, const char* gate, const char* down,
                 const char* experts);
/// Adds those of the experts that all tokens go through.
void add_shared_experts(Family& family, const char* up, const char* gate, const char* down);
/// `family` without layers that are dense.
Family without_dense_layers(Family family);

/// Word vectors, layers above them, and a label of the text (Rows::kState), of each word, or both: models of torch's
/// modules, in a documented naming. The arguments are its model_type, which is also its base, and the prefix of its
/// classes.
Family above_words(const char* model_type, const char* architecture);

/// `a` and then `b`.
std::vector<Head> joined(std::vector<Head> a, std::vector<Head> b);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILIES_BLOCKS_H_
