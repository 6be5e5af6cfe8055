// The Evolved Transformer (So et al., arXiv 1901.11117), and Meena, one encoder layer and thirteen decoder layers of it (Adiwardana et al.,
// arXiv 2001.09977). No library writes such directories: docs/evolved-transformer.md says what stands in them.
#include "import/families/blocks.h"

namespace bantam::convert {
namespace {

Family evolved_stack(bool decoder) {
  Family family;
  family.base = "model";
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 0;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 512;
  settings.layers = {decoder ? "decoder_layers" : "encoder_layers", 6};
  settings.heads.otherwise = 8;
  settings.intermediate = {nullptr, 1};
  settings.epsilon_otherwise = 1e-6;
  settings.scaled_if = "scale_embedding";
  settings.sinusoids = Settings::Sinusoids::kSteps;
  family.layer = decoder ? "decoder.layers.{}" : "encoder.layers.{}";
  family.block.evolved = true;
  family.block.causal = decoder;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "shared.weight"}, {Slot::kPositions, "positions.weight"}};
  return family;
}

}  // namespace

Family evolved_transformer() {
  Family family = evolved_stack(true);
  family.source = std::make_shared<const Family>(evolved_stack(false));
  family.model_types = {"evolved_transformer"};
  family.architectures = {"EvolvedTransformer"};
  Head tags = tag_head(), vectors{fb::TaskKind::embed, nullptr}, rows{fb::TaskKind::none, "EncoderModel"};
  tags.of_source = vectors.of_source = rows.of_source = true;
  family.heads = {
      {fb::TaskKind::none, "Model"},
      rows,
      vectors,
      tags,
      {fb::TaskKind::generate, "ForConditionalGeneration", Rows::kTokens, {{"lm_head", HeadLayer::Out::kVocabulary}}},
      source_classify_head()};
  return family;
}

}  // namespace bantam::convert
