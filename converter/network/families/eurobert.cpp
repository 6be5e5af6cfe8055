// EuroBERT (arXiv 2503.05500): Llama's layers, whose tokens see those behind them, too.
#include "network/families/blocks.h"

namespace bantam::convert {

Family eurobert() {
  Family family = llama_like("eurobert", "EuroBert");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 128256;
  settings.positions.otherwise = 8192;
  settings.hidden.otherwise = 768;
  settings.layers.otherwise = 12;
  settings.heads.otherwise = 12;
  settings.intermediate.otherwise = 3072;
  settings.epsilon_otherwise = 1e-5;
  family.block.causal = false;
  const Head labels{fb::TaskKind::classify,
                    "ForSequenceClassification",
                    Rows::kLate,
                    {{"dense", Out::kHidden, Activation::kGelu}, {"classifier", Out::kLabels}}};
  const Head words{fb::TaskKind::fill, "ForMaskedLM", Rows::kTokens, {{"lm_head", Out::kVocabulary}}};
  family.heads = joined(common_heads(), {labels, tag_head(), words});
  return family;
}

}  // namespace bantam::convert
