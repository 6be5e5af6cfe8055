// TextCNN (Kim 2014, arXiv 1408.5882): words' vectors, convolutions over neighbouring words, and a head. No library writes such
// directories: docs/textcnn.md says what stands in them.
#include "import/families/blocks.h"

namespace bantam::convert {

Family textcnn() {
  Family family;
  family.model_types = {"textcnn"};
  family.base = "textcnn";
  family.architectures = {"TextCnn"};
  Settings& settings = family.settings;
  settings.positions = {"max_length", 512};
  settings.segments = {nullptr, 0};
  settings.hidden.key = "embedding_size";
  settings.layers = {nullptr, 0};
  settings.heads = {nullptr, 1};
  settings.intermediate = {nullptr, 1};
  settings.epsilon = nullptr;
  family.block.convolutions = true;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "embedding.weight"}};
  family.heads = {
      {fb::TaskKind::classify, "ForSequenceClassification", Rows::kState, {{"classifier", HeadLayer::Out::kLabels}}},
      tag_head(),
      {fb::TaskKind::none, "Model"},
      {fb::TaskKind::joint, nullptr}};
  return family;
}

}  // namespace bantam::convert
