// SqueezeBERT (arXiv 2006.11316): BERT whose linear layers are grouped convolutions over single tokens.
#include <utility>

#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {

namespace {

void settle_groups(const Fields& config, EncoderConfig& out) {
  constexpr std::pair<Slot, const char*> kGroups[] = {
      {Slot::kQuery, "q_groups"},         {Slot::kKey, "k_groups"},
      {Slot::kValue, "v_groups"},         {Slot::kAttentionOut, "post_attention_groups"},
      {Slot::kUp, "intermediate_groups"}, {Slot::kDown, "output_groups"}};
  constexpr uint32_t kMostGroups = 1U << 10, kGroupsOtherwise = 4;
  for (const auto& [slot, key] : kGroups)
    out.column_groups[slot] = config.count(key, kMostGroups, slot == Slot::kAttentionOut ? 1 : kGroupsOtherwise);
}

}  // namespace

Family squeezebert() {
  Family family;
  family.model_types = {"squeezebert"};
  family.base = "transformer";
  family.architectures = {"SqueezeBert"};
  family.settings.settle = settle_groups;
  // Norms of layers use this epsilon whatever the settings say.
  family.settings.required = {{"layer_norm_eps", "1e-12"}};
  family.layer = "encoder.layers.{}";
  family.roles = bert_roles();
  const Roles names = {{Slot::kQuery, "attention.query"},
                       {Slot::kKey, "attention.key"},
                       {Slot::kValue, "attention.value"},
                       {Slot::kQkv, "attention.qkv"},
                       {Slot::kHeads, "attention.heads"},
                       {Slot::kAttention, "attention"},
                       {Slot::kAttentionOut, "post_attention.conv1d"},
                       {Slot::kAttentionNorm, "post_attention.layernorm"},
                       {Slot::kUp, "intermediate.conv1d"},
                       {Slot::kDown, "output.conv1d"},
                       {Slot::kDownNorm, "output.layernorm"}};
  for (const auto& [slot, name] : names) family.roles[slot] = name;
  family.heads = pooler_heads();
  family.heads.push_back(cls_heads().front());
  return family;
}

}  // namespace bantam::convert
