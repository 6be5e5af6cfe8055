// Jina BERT version 2 (arXiv 2310.19923): BERT without positions, whose scores fall with the distance, with gated
// feed-forward layers. Its files state model_type "bert", and name code of their own, which is never run.
#include "network/families/blocks.h"

namespace bantam::convert {

Family jina_bert() {
  Family family;
  family.model_types = {"jina_bert"};
  family.published = {"bert", "position_embedding_type", "alibi", ".mlp.gated_layers."};
  family.base = "bert";
  family.architectures = {"JinaBert"};
  Settings& settings = family.settings;
  settings.positions.otherwise = 8192;
  settings.slopes = true;
  settings.activation = "feed_forward_type";
  settings.activation_otherwise = "geglu";
  family.roles = bert_roles();
  family.roles.erase(Slot::kPositions);
  family.roles.erase(Slot::kFactorProjection);
  family.roles.erase(Slot::kUp);
  family.roles.insert({{Slot::kUp, "mlp.gated_layers[0/2]"}, {Slot::kGate, "mlp.gated_layers[1/2]"}});
  family.roles[Slot::kDown] = "mlp.wo";
  family.roles[Slot::kDownNorm] = "mlp.layernorm";
  // Only the two parts of the gated matrix have no biases.
  family.block.optional_biases = true;
  family.heads = joined(pooler_heads(), cls_heads());
  for (Head& head : family.heads) {
    if (head.task != fb::TaskKind::fill) continue;
    HeadLayer& transform = head.layers.front();
    transform.activation = Activation::kOfSetting;  // may differ from the feed-forward layers' activation
    transform.setting = "hidden_act";
    transform.setting_otherwise = "gelu";
  }
  return family;
}

/// Later files ("qk-post-norm"), first those of code models: queries and keys have norms, the attention's sum has a
/// second norm, and the two halves of the gated layers' matrix are swapped.
Family jina_bert_code() {
  Family family = jina_bert();
  family.model_types = {"jina_bert_code"};
  family.published.tensor = ".mlp.up_gated_layer.";
  Roles& roles = family.roles;
  roles.insert({{Slot::kQueryNorm, "attention.self.layer_norm_q"},
                {Slot::kKeyNorm, "attention.self.layer_norm_k"},
                {Slot::kSumNorm, "layer_norm_1"}});
  roles[Slot::kUp] = "mlp.up_gated_layer[1/2]";
  roles[Slot::kGate] = "mlp.up_gated_layer[0/2]";
  roles[Slot::kDown] = "mlp.down_layer";
  roles[Slot::kDownNorm] = "layer_norm_2";
  return family;
}

}  // namespace bantam::convert
