// CLIP (arXiv 2103.00020): a tower of texts and a tower of images, whose vectors lie in one space. Each is a file of its own.
#include "import/families/blocks.h"

namespace bantam::convert {
namespace {

using Out = HeadLayer::Out;

/// What both towers have, whose layers are named alike.
Family tower(const char* model_type, const char* architecture, const char* base) {
  Family family;
  family.model_types = {model_type};
  family.base = base;
  family.architectures = {architecture};
  Settings& settings = family.settings;
  settings.segments = {nullptr, 0};
  settings.activation_otherwise = "quick_gelu";
  settings.epsilon_otherwise = 1e-5;
  family.layer = "encoder.layers.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.optional_biases = true;
  family.roles = {{Slot::kAttentionNorm, "layer_norm1"},
                  {Slot::kQuery, "self_attn.q_proj"},
                  {Slot::kKey, "self_attn.k_proj"},
                  {Slot::kValue, "self_attn.v_proj"},
                  {Slot::kQkv, "self_attn.qkv"},
                  {Slot::kHeads, "self_attn.heads"},
                  {Slot::kAttention, "self_attn"},
                  {Slot::kAttentionOut, "self_attn.out_proj"},
                  {Slot::kDownNorm, "layer_norm2"},
                  {Slot::kUp, "mlp.fc1"},
                  {Slot::kDown, "mlp.fc2"}};
  return family;
}

/// Vectors are a layer's of one row, in files of both towers and of this one with its projection; of a tower alone the row itself.
std::vector<Head> vectors(Rows rows, const char* projection) {
  const HeadLayer layer = {projection, Out::kVector};
  return {{fb::TaskKind::embed, "ModelWithProjection", rows, {layer}}, {fb::TaskKind::embed, "Model", rows, {layer}}};
}

}  // namespace

Family clip_text() {
  Family family = tower("clip_text_model", "CLIPText", "text_model");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 49408;
  settings.positions.otherwise = 77;
  settings.hidden.otherwise = 512;
  settings.heads.otherwise = 8;
  settings.intermediate.otherwise = 2048;
  family.block.causal = true;
  family.roles.insert({{Slot::kWords, "embeddings.token_embedding.weight"},
                       {Slot::kPositions, "embeddings.position_embedding.weight"},
                       {Slot::kFinalNorm, "final_layer_norm"}});
  family.heads = vectors(Rows::kLast, "text_projection");
  family.unused = {{"vision_model.", "of the tower of images"}, {"visual_projection.", "of the tower of images"}};
  return family;
}

Family clip_vision() {
  Family family = tower("clip_vision_model", "CLIPVision", "vision_model");
  family.anchor = "embeddings.class_embedding";
  Settings& settings = family.settings;
  settings.vocabulary = {nullptr, 1};
  settings.positions = {nullptr, 1};
  settings.patch_otherwise = 32;
  family.block.patches = true;
  family.roles.insert({{Slot::kPatchPlaces, "embeddings.position_embedding.weight"},
                       {Slot::kWholeImage, "embeddings.class_embedding"},
                       {Slot::kPatches, "embeddings.patch_embedding"},
                       {Slot::kEmbeddingNorm, "pre_layrnorm"},  // spelled so in every file
                       {Slot::kFinalNorm, "post_layernorm"}});
  family.heads = vectors(Rows::kFirst, "visual_projection");
  family.unused = {{"text_model.", "of the tower of texts"}, {"text_projection.", "of the tower of texts"}};
  return family;
}

}  // namespace bantam::convert
