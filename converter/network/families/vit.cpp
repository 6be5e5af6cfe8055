// Vision transformers: ViT (arXiv 2010.11929), DeiT (arXiv 2012.12877), which has a distillation token, and DINOv2
// (arXiv 2304.07193), whose layers scale the outputs that they add.
#include "network/families/blocks.h"

namespace bantam::convert {
namespace {

Family of_images(const char* model_type, const char* architecture) {
  Family family;
  family.model_types = {model_type};
  family.base = model_type;
  family.architectures = {architecture};
  family.anchor = "embeddings.cls_token";
  Settings& settings = family.settings;
  settings.vocabulary = {nullptr, 1};
  settings.positions = {nullptr, 1};
  settings.segments = {nullptr, 0};
  family.block.patches = family.block.norm_first = family.block.norm_before_all = family.block.optional_biases = true;
  family.roles = {{Slot::kPatchPlaces, "embeddings.position_embeddings"},
                  {Slot::kWholeImage, "embeddings.cls_token"},
                  {Slot::kPatches, "embeddings.patch_embeddings.projection"},
                  {Slot::kPooler, "pooler.dense"},
                  {Slot::kQuery, "attention.attention.query"},
                  {Slot::kKey, "attention.attention.key"},
                  {Slot::kValue, "attention.attention.value"},
                  {Slot::kQkv, "attention.attention.qkv"},
                  {Slot::kHeads, "attention.attention.heads"},
                  {Slot::kAttention, "attention.attention"},
                  {Slot::kAttentionOut, "attention.output.dense"},
                  {Slot::kAttentionNorm, "layernorm_before"},
                  {Slot::kDownNorm, "layernorm_after"},
                  {Slot::kUp, "intermediate.dense"},
                  {Slot::kDown, "output.dense"},
                  {Slot::kFinalNorm, "layernorm"}};
  family.unused = {{"embeddings.mask_token", "stands for patches that training hides"}};
  family.heads = {{fb::TaskKind::classify, "ForImageClassification", Rows::kFirst, {{"classifier", Out::kLabels}}},
                  {fb::TaskKind::none, "Model"},
                  {fb::TaskKind::embed, nullptr}};
  family.refused = {{"ForMaskedImageModeling", "makes pixels; --task none converts what stands beneath"}};
  return family;
}

}  // namespace

Family vit() { return of_images("vit", "ViT"); }

Family deit() {
  Family family = of_images("deit", "DeiT");
  family.roles[Slot::kTeacherToken] = "embeddings.distillation_token";
  family.heads.push_back({fb::TaskKind::classify,
                          "ForImageClassificationWithTeacher",
                          Rows::kTwo,
                          {{"cls_classifier", Out::kLabels}, {"distillation_classifier", Out::kLabels}}});
  return family;
}

Family dinov2() {
  Family family = of_images("dinov2", "Dinov2");
  Settings& settings = family.settings;
  settings.intermediate = {nullptr, 0};
  settings.widening = 4;
  settings.epsilon_otherwise = 1e-6;
  settings.required = {{"mlp_ratio", "4"}, {"use_swiglu_ffn", "false"}};
  family.roles.erase(Slot::kPooler);
  family.roles[Slot::kAttentionNorm] = "norm1";
  family.roles[Slot::kDownNorm] = "norm2";
  family.roles[Slot::kUp] = "mlp.fc1";
  family.roles[Slot::kDown] = "mlp.fc2";
  family.roles[Slot::kAttentionFactors] = "layer_scale1.lambda1";
  family.roles[Slot::kDownFactors] = "layer_scale2.lambda1";
  family.heads.front() = {fb::TaskKind::classify, "ForImageClassification", Rows::kTwo, {{"classifier", Out::kLabels}}};
  return family;
}

}  // namespace bantam::convert
