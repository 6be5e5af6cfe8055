// EuroBERT (arXiv 2503.05500): Llama's layers, whose tokens also see later tokens. UltraBERT (DMIS Lab 2026): the same
// with windows in two layers of three.
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

/// transformers writes the kinds of layers; the first files have lists of windows and of rotary bases instead.
void settle_kinds(const Fields& config, EncoderConfig&) {
  constexpr const char* kWindows = "attention_windows";
  if (!config.has(kWindows) || config.has("layer_types")) return;
  config.problem(ExitCode::kUnsupported, kWindows, "stands here; load the model with transformers and save it again");
}

}  // namespace

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

Family ultrabert() {
  Family family = eurobert();
  family.model_types = {"ultrabert"};
  family.base = "ultrabert";
  family.other_bases = {"model"};
  family.architectures = {"Ultrabert"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 32000;
  settings.positions.otherwise = 32768;
  settings.hidden.otherwise = 4096;
  settings.layers.otherwise = 32;
  settings.heads.otherwise = 32;
  settings.intermediate.otherwise = 11008;
  settings.epsilon_otherwise = 1e-6;
  settings.rotary = {2560000};
  settings.local_rotary = {10000};
  settings.window = {"sliding_window", 128};
  settings.window_each_side = true;
  settings.full_every = {nullptr, 3};
  settings.settle = settle_kinds;
  const Head labels{
      fb::TaskKind::classify, "ForSequenceClassification", Rows::kOfSetting, {{"classifier", Out::kLabels}}};
  HeadLayer widens{"head.linear1", Out::kInner, Activation::kGeluTanh}, narrows = widens;
  narrows.name = "head.linear2";
  narrows.out = Out::kHidden;
  widens.bare = narrows.bare = true;
  HeadLayer scores{"cls", Out::kVocabulary};
  scores.bare = true;
  const Head words{fb::TaskKind::fill, "ForMaskedLM", Rows::kTokens, {widens, narrows, scores}};
  family.heads = joined(common_heads(), {labels, tag_head(), answer_head(), words});
  return family;
}

}  // namespace bantam::convert
