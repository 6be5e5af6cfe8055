// Word vectors (word2vec, GloVe, fastText): the average of the vectors of a text's words, and a classifier over the
// average. docs/wordvectors.md describes their directories.
#include "network/families/blocks.h"

namespace bantam::convert {

Family word_vectors() {
  Family family;
  family.model_types = {"word-vectors"};
  family.base = "words";
  family.architectures = {"WordVectors"};
  Settings& settings = family.settings;
  settings.positions = {"max_length", 8192};
  settings.segments = {nullptr, 0};
  settings.layers = {nullptr, 0};
  settings.heads = {nullptr, 1};
  settings.intermediate = {nullptr, 1};
  settings.epsilon = nullptr;
  family.block.averaged = true;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "embeddings"}};
  family.heads = {{fb::TaskKind::classify,
                   "ForSequenceClassification",
                   Rows::kOfSetting,
                   {{"classifier", HeadLayer::Out::kLabels}}},
                  {fb::TaskKind::embed, "Model"}};
  return family;
}

}  // namespace bantam::convert
