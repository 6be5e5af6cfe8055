// CLIP (arXiv 2103.00020) and SigLIP (arXiv 2303.15343): a text tower and an image tower, whose vectors share one
// space. Each becomes its own file.
#include "network/families/blocks.h"

namespace bantam::convert {
namespace {

/// The parts that both towers share; their layers have the same names.
Family tower(const char* model_type, const char* architecture, const char* base) {
  Family family;
  family.model_types = {model_type};
  family.base = base;
  family.architectures = {architecture};
  Settings& settings = family.settings;
  settings.segments = {nullptr, 0};
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

Family clip_tower(const char* model_type, const char* architecture, const char* base) {
  Family family = tower(model_type, architecture, base);
  family.settings.activation_otherwise = "quick_gelu";
  family.settings.epsilon_otherwise = 1e-5;
  return family;
}

Family siglip_tower(const char* model_type, const char* architecture, const char* base) {
  Family family = tower(model_type, architecture, base);
  family.settings.activation_otherwise = "gelu_pytorch_tanh";
  family.settings.epsilon_otherwise = 1e-6;
  return family;
}

void take_texts(Family& family) {
  family.roles.insert({{Slot::kWords, "embeddings.token_embedding.weight"},
                       {Slot::kPositions, "embeddings.position_embedding.weight"},
                       {Slot::kFinalNorm, "final_layer_norm"}});
  family.unused = {{"vision_model.", "of the tower of images"}, {"visual_projection.", "of the tower of images"}};
}

void take_images(Family& family, uint32_t patch) {
  family.settings.vocabulary = {nullptr, 1};
  family.settings.positions = {nullptr, 1};
  family.settings.patch_otherwise = patch;
  family.block.patches = true;
  family.roles.insert({{Slot::kPatchPlaces, "embeddings.position_embedding.weight"},
                       {Slot::kPatches, "embeddings.patch_embedding"},
                       {Slot::kFinalNorm, "post_layernorm"}});
  family.unused = {{"text_model.", "of the tower of texts"}, {"text_projection.", "of the tower of texts"}};
}

/// A vector is a projection of one row in files that have the projection (of both towers, or of this tower), otherwise
/// the row itself.
std::vector<Head> vectors(Rows rows, const char* projection) {
  const HeadLayer layer = {projection, Out::kVector};
  return {{fb::TaskKind::embed, "ModelWithProjection", rows, {layer}}, {fb::TaskKind::embed, "Model", rows, {layer}}};
}

}  // namespace

Family clip_text() {
  Family family = clip_tower("clip_text_model", "CLIPText", "text_model");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 49408;
  settings.positions.otherwise = 77;
  settings.hidden.otherwise = 512;
  settings.heads.otherwise = 8;
  settings.intermediate.otherwise = 2048;
  family.block.causal = true;
  take_texts(family);
  family.heads = vectors(Rows::kLast, "text_projection");
  return family;
}

Family clip_vision() {
  Family family = clip_tower("clip_vision_model", "CLIPVision", "vision_model");
  family.anchor = "embeddings.class_embedding";
  take_images(family, 32);
  family.roles.insert({{Slot::kWholeImage, "embeddings.class_embedding"},
                       {Slot::kEmbeddingNorm, "pre_layrnorm"}});  // misspelled in every file
  family.heads = vectors(Rows::kFirst, "visual_projection");
  return family;
}

Family siglip_text() {
  Family family = siglip_tower("siglip_text_model", "SiglipText", "text_model");
  family.settings.vocabulary.otherwise = 32000;
  family.settings.positions.otherwise = 64;
  family.block.filled = true;
  take_texts(family);
  HeadLayer layer = {"head", Out::kVector};
  layer.of_base = true;
  family.heads = {{fb::TaskKind::embed, "Model", Rows::kLast, {layer}}};
  return family;
}

Family siglip_vision() {
  Family family = siglip_tower("siglip_vision_model", "SiglipVision", "vision_model");
  family.anchor = "embeddings.patch_embedding.weight";
  take_images(family, 16);
  family.settings.required = {{"vision_use_head", "true"}};
  family.heads = {{fb::TaskKind::embed, "Model", Rows::kProbe}};
  return family;
}

}  // namespace bantam::convert
