// Nomic BERT (arXiv 2402.01613): BERT with rotary positions and gated feed-forward layers.
#include "network/families/blocks.h"

namespace bantam::convert {

Family nomic_bert() {
  Family family;
  family.model_types = {"nomic_bert"};
  family.base = "nomic_bert";
  family.architectures = {"NomicBert"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 30528;
  settings.positions.otherwise = 2048;
  settings.activation_otherwise = "silu";
  settings.rotary = {1000, "rotary_emb_base"};
  settings.head_width = "head_dim";
  // Older files use GPT-2's names.
  settings.synonyms = {{"n_embd", "hidden_size"},
                       {"n_layer", "num_hidden_layers"},
                       {"n_head", "num_attention_heads"},
                       {"n_inner", "intermediate_size"},
                       {"n_positions", "max_position_embeddings"},
                       {"activation_function", "hidden_act"},
                       {"layer_norm_epsilon", "layer_norm_eps"},
                       {"rope_theta", "rotary_emb_base"}};
  settings.required = {{"prenorm", "false"},
                       {"use_rms_norm", "false"},
                       {"parallel_block", "false"},
                       {"causal", "false"},
                       {"rotary_emb_interleaved", "false"},
                       {"rotary_emb_fraction", "1"},
                       {"rotary_emb_scale_base", "null"},
                       {"num_experts", "0"}};
  family.layer = "encoder.layers.{}";
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "embeddings.word_embeddings.weight"},
                  {Slot::kSegments, "embeddings.token_type_embeddings.weight"},
                  {Slot::kEmbeddingNorm, "emb_ln"},
                  {Slot::kPooler, "pooler.dense"},
                  {Slot::kQuery, "attn.Wqkv[0/3]"},
                  {Slot::kKey, "attn.Wqkv[1/3]"},
                  {Slot::kValue, "attn.Wqkv[2/3]"},
                  {Slot::kAttentionOut, "attn.out_proj"},
                  {Slot::kAttentionNorm, "norm1"},
                  {Slot::kUp, "mlp.fc12"},
                  {Slot::kGate, "mlp.fc11"},
                  {Slot::kDown, "mlp.fc2"},
                  {Slot::kDownNorm, "norm2"},
                  {Slot::kQkv, "attn.Wqkv"},
                  {Slot::kHeads, "attn.heads"},
                  {Slot::kAttention, "attn"}};
  family.heads =
      joined(common_heads(),
             {pooled_classify_head(),
              tag_head(),
              answer_head(),
              pooled_choose_head(),
              {fb::TaskKind::fill,
               "ForMaskedLM",
               Rows::kTokens,
               {{"cls.predictions.transform.dense", Out::kHidden, Activation::kOfModel,
                 "cls.predictions.transform.layer_norm"},
                {"cls.predictions.decoder", Out::kVocabulary, Activation::kNone, nullptr, "cls.predictions.bias"}}}});
  return family;
}

}  // namespace bantam::convert
