// FNet (arXiv 2105.03824): BERT whose layers have a Fourier transform over tokens and columns in place of attention.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "network/blocks/modules.h"
#include "network/families/blocks.h"
#include "network/families/own/own_layers.h"

namespace bantam::convert {
namespace {

/// The matrix [columns, columns] that transforms the columns of a row: rows of cosines, then of sines (Fourier in the
/// schema).
Values waves(uint32_t columns) {
  const double turn = 2 * std::acos(-1.0);
  Values out;
  out.values.reserve(size_t{columns} * columns);
  for (const bool sines : {false, true}) {
    for (uint64_t r = sines ? 1 : 0; r <= (sines ? (columns - 1) / 2 : columns / 2); ++r) {
      for (uint64_t c = 0; c < columns; ++c) {
        const double angle = turn * static_cast<double>(r * c % columns) / columns;
        out.values.push_back(static_cast<float>(sines ? std::sin(angle) : std::cos(angle)));
      }
    }
  }
  return out;
}

void add_fnet(const LayerSite& site) {
  const EncoderConfig& config = site.config;
  const Family& family = *config.family;
  const uint32_t hidden = config.hidden;
  Builder& builder = site.builder;
  Modules modules(builder, site.weights, config);
  int32_t x = site.encoder->hidden;
  builder.enter(fb::Part::attention);
  const int32_t matrix = builder.places(site.encoder->base + "fourier.weight", hidden, hidden, waves(hidden));
  for (uint32_t i = 0; i < config.layers; ++i) {
    const std::string layer = layer_prefix(config, i), name = site.encoder->base + layer + "fourier";
    const auto added = [&](Slot norm, int32_t sum) {
      EpilogueSpec epilogue = modules.norm(layer + family.name(norm), hidden);
      epilogue.residual = sum;
      return epilogue;
    };
    builder.enter(fb::Part::attention, static_cast<int32_t>(i));
    const int32_t columns = builder.linear(name + ".columns", x, matrix, kAbsent, {});
    x = builder.fourier(name, columns, added(Slot::kAttentionNorm, x));
    builder.enter(fb::Part::feed_forward, static_cast<int32_t>(i));
    EpilogueSpec activated;
    activated.activation = config.activation;
    const int32_t wide = modules.dense(layer + family.name(Slot::kUp), x, config.intermediate, activated);
    x = modules.dense(layer + family.name(Slot::kDown), wide, hidden, added(Slot::kDownNorm, x));
  }
  site.encoder->hidden = x;
}

}  // namespace

Family fnet() {
  Family family;
  family.model_types = {"fnet"};
  family.base = "fnet";
  family.architectures = {"FNet"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 32000;
  settings.segments.otherwise = 4;
  settings.heads = {nullptr, 1};
  settings.activation_otherwise = "gelu_new";
  settings.required = {{"use_tpu_fourier_optimizations", "false"}};
  family.block.always_projected = true;
  const Roles all = bert_roles();
  for (const Slot slot : {Slot::kWords, Slot::kPositions, Slot::kSegments, Slot::kEmbeddingNorm, Slot::kPooler,
                          Slot::kUp, Slot::kDown, Slot::kDownNorm}) {
    family.roles[slot] = all.at(slot);
  }
  family.roles[Slot::kEmbeddingProjection] = "embeddings.projection";
  family.roles[Slot::kAttentionNorm] = "fourier.output.LayerNorm";
  family.own = {add_fnet, "they transform all tokens and all columns"};
  family.heads = joined(pooler_heads(), cls_heads());
  return family;
}

}  // namespace bantam::convert
